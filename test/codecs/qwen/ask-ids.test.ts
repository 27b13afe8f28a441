import { describe, expect, test } from 'vitest'
import { AskIds } from '../../../codecs/qwen/front/ask-ids.ts'

describe('the ids of questions', () => {
  test('are never those of an earlier one', () => {
    const ids = new AskIds()
    const given = ['p1', 'p2', 'p1', 'p1#2', 'p1', 'p2'].map((ask) => ids.of(ask))
    expect(given).toEqual(['p1', 'p2', 'p1#2', 'p1#2#2', 'p1#3', 'p2#2'])
    expect(new Set(given).size).toBe(given.length)
  })

  test('are remembered as far as they were used last', () => {
    const ids = new AskIds()
    ids.of('often')
    ids.of('once')
    for (let count = 0; count < 998; count += 1) ids.of(`a${count}`)
    expect(ids.of('often')).toBe('often#2')
    for (let count = 0; count < 500; count += 1) ids.of(`b${count}`)
    expect(ids.of('often')).toBe('often#3')
    expect(ids.of('once')).toBe('once')
  })
})
