import { describe, expect, test } from 'vitest'
import { extensions, messageMembers } from '../../src/codec-kit/index.ts'
import type { Part } from '../../src/model/index.ts'

const { begin, of, split, join } = messageMembers(extensions('p'), 'message')
const text = (said: string, json?: string): Part => ({
  type: 'text',
  text: said,
  ...(json !== undefined && { ext: { protocol: 'p', json } }),
})

describe('further members of messages', () => {
  test('ride with the first part, besides what that has itself', () => {
    expect(begin([text('a', '{"x":1.0}'), text('b')], '{"name":"ann"}')).toEqual([
      text('a', '{"x":1.0,"message":{"name":"ann"}}'),
      text('b'),
    ])
    expect(begin([text('a')], undefined)).toEqual([text('a')])
    expect(begin([], undefined)).toEqual([])
  })

  test('need no content', () => {
    expect(begin([], '{"name":"ann"}')).toEqual([text('', '{"message":{"name":"ann"}}')])
  })

  test('are those of any part, and of no other protocol', () => {
    expect(of([text('a'), text('b', '{"message":{"n":1.0}}')])).toBe('{"n":1.0}')
    expect(of([{ ...text('a'), ext: { protocol: 'q', json: '{"message":{}}' } }])).toBeUndefined()
  })

  test('tell messages apart that are joined', () => {
    const named = begin([text('a')], '{"name":"ann"}')
    const plain = text('c', '{"message":{}}')
    expect(join([[text('0')], named, [text('b', '{"x":1}')], [], [text('d')]])).toEqual([
      text('0'),
      ...named,
      text('b', '{"x":1,"message":{}}'),
      text('d'),
    ])
    expect(join([named, [], [text('c')]])).toEqual([...named, plain])
    expect(split([text('0'), ...named, plain, text('d')])).toEqual([[text('0')], named, [plain, text('d')]])
    expect(split([])).toEqual([])
  })
})
