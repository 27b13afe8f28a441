import { describe, expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { carryParts } from '../../src/engine/carry/carry-parts.ts'
import type { Item, Part } from '../../src/model/index.ts'

const ext = { protocol: 'other', json: '{}' }
const CITED: Part = { type: 'text', text: 'a', citations: [{ url: 'u', ext }, { title: 't' }] }
const IMAGE: Part = { type: 'image', url: 'u' }
const within = (...parts: Part[]): Part => ({ type: 'tool-reply', tool: 't', status: 'ok', parts })

/** The parts that a front with these items gets, and what is reported. */
function carried(items: readonly Item[], parts: readonly Part[], isShown = (_: Part) => false) {
  const losses: unknown[] = []
  const full = capabilities({ full: ['part.text', ...items] })
  const kept = carryParts(full, parts, isShown, ({ item, field, count }) => losses.push([item, field, count]))
  return { kept, losses }
}

describe('parts for a front', () => {
  test('are the same ones where all have a place', () => {
    const parts = [CITED, within(CITED)]
    const { kept, losses } = carried(['citation', 'part.ext', 'part.tool-reply'], parts)
    expect([kept === parts, losses]).toEqual([true, []])
  })

  test('are without those that have none, also in results; what is shown otherwise is no loss', () => {
    const { kept, losses } = carried(['part.tool-reply'], [IMAGE, within(IMAGE, { type: 'text', text: 'a' })])
    expect(kept).toEqual([within({ type: 'text', text: 'a' })])
    expect(losses).toEqual([
      ['part.image', undefined, 1],
      ['part.image', undefined, 1],
    ])
    expect(carried([], [IMAGE], () => true)).toEqual({ kept: [], losses: [] })
  })

  test('have no sources where these have no place, else without the fields of a protocol', () => {
    expect(carried([], [CITED])).toEqual({ kept: [{ type: 'text', text: 'a' }], losses: [['citation', undefined, 2]] })
    expect(carried(['citation'], [{ ...CITED, ext }])).toEqual({
      kept: [{ type: 'text', text: 'a', citations: [{ url: 'u' }, { title: 't' }] }],
      losses: [
        ['part.ext', 'other', 1],
        ['part.ext', 'other', 1],
      ],
    })
  })
})
