import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberedIds, ToolCalls } from '../../src/codec-kit/index.ts'

describe('numbered ids', () => {
  test('keep the first use of an id, and number the later ones past those that are taken', () => {
    const nameOf = numberedIds()
    expect(['a', 'a#2', 'a', 'a', 'a#2', ''].map(nameOf)).toEqual(['a', 'a#2', 'a#3', 'a#4', 'a#2#2', ''])
  })

  test('are never given twice', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('', 'a', 'a#2', 'b', '#2')), (wire) => {
        const ids = wire.map(numberedIds())
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })
})

describe('tool calls', () => {
  test('of one id are told apart by what each still waits for', () => {
    const calls = new ToolCalls(numberedIds())
    expect([calls.start('a'), calls.start('a')]).toEqual(['a', 'a#2'])
    expect(calls.drafting('a')).toBe('a#2')
    expect([calls.call('a'), calls.call('a'), calls.call('a')]).toEqual(['a', 'a#2', 'a#3'])
    expect(calls.drafting('a')).toBeUndefined()
    expect([calls.running('a'), calls.end('a'), calls.running('a')]).toEqual(['a', 'a', 'a#2'])
    expect([calls.end('a'), calls.end('a'), calls.end('a'), calls.running('a')]).toEqual([
      'a#2',
      'a#3',
      undefined,
      undefined,
    ])
    expect(calls.call('a')).toBe('a#4')
  })

  test('that a message names before they are announced keep these names', () => {
    const calls = new ToolCalls(numberedIds())
    calls.start('a')
    const nameOf = calls.namer()
    expect([nameOf('a'), nameOf('a'), nameOf('b')]).toEqual(['a', 'a#2', 'b'])
    expect([calls.call('b'), calls.call('a'), calls.call('a')]).toEqual(['b', 'a', 'a#2'])
  })

  test('end once each, however their signs are mixed', () => {
    const step = fc.tuple(fc.constantFrom('start' as const, 'call' as const, 'end' as const), fc.constantFrom('a', 'b'))
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const calls = new ToolCalls(numberedIds())
        const ended = steps.flatMap(([what, id]) => {
          if (what === 'end') return calls.end(id) ?? []
          calls[what](id)
          return []
        })
        expect(new Set(ended).size).toBe(ended.length)
      }),
    )
  })
})
