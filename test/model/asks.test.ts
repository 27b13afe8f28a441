import { expect, test } from 'vitest'
import { type AskOption, narrowestOption } from '../../src/model/index.ts'

const option = (id: string, kind: AskOption['kind'], scope: AskOption['scope']): AskOption => ({ id, kind, scope })

test('of the options of a kind the narrowest is chosen: one for this once, else the first', () => {
  const all = [option('a', 'allow', 'always'), option('b', 'allow', 'once'), option('c', 'deny', 'session')]
  expect(narrowestOption(all, 'allow')?.id).toBe('b')
  expect(narrowestOption(all, 'deny')?.id).toBe('c')
  expect(narrowestOption([all[0]!, all[2]!], 'allow')?.id).toBe('a')
  expect(narrowestOption([], 'deny')).toBeUndefined()
})
