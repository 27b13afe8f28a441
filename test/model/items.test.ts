import { expect, test } from 'vitest'
import { ITEMS, itemsOf } from '../../src/model/items.ts'

test('the items of a group are found by their names within it, and nothing else is', () => {
  const groups = [...new Set(ITEMS.filter((item) => item.includes('.')).map((item) => item.split('.')[0]!))]
  const found = groups.flatMap((group) =>
    Object.entries(itemsOf(group)).map(([name, item]) => [`${group}.${name}`, item]),
  )
  expect(found.map(([, item]) => item).sort()).toEqual(ITEMS.filter((item) => item.includes('.')).sort())
  for (const [name, item] of found) expect(item).toBe(name)
  expect([itemsOf('option')['model'], itemsOf('option')['constructor'], itemsOf('opt')['model']]).toEqual([
    'option.model',
    undefined,
    undefined,
  ])
})
