import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { answeredHistory, callIdOf, flatToolName, isAnswer, ownOptions, strayReply } from '../../src/codec-kit/index.ts'
import type { Message, Part } from '../../src/model/index.ts'

const text = (said: string): Part => ({ type: 'text', text: said })
const call = (tool: string): Part => ({ type: 'tool-call', tool, name: 'f', args: '{}' })
const reply = (tool: string, status: 'ok' | 'cancelled' = 'ok'): Part => ({
  type: 'tool-reply',
  tool,
  status,
  parts: [],
})
const message = (role: Message['role'], ...parts: Part[]): Message => ({ role, parts })

/** Conversations in which calls and results stand anywhere. */
const part = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map(call),
  fc.constantFrom('a', 'b', 'c').map((tool) => reply(tool)),
  fc.constant(text('x')),
)
const conversation = fc.array(
  fc.array(part, { maxLength: 3 }).map((parts) => message('assistant', ...parts)),
  { maxLength: 6 },
)

describe('a result without its call', () => {
  const PARKED = callIdOf('call_', { continuation: 't1.x', at: 0 })

  test.each<[string, Message[], number | undefined]>([
    ['an empty conversation', [], undefined],
    ['a call and its result', [message('assistant', call('a')), message('tool', reply('a'))], undefined],
    ['both in one message', [message('assistant', call('a'), reply('a'))], undefined],
    ['a result before its call', [message('tool', reply('a')), message('assistant', call('a'))], 0],
    ['a result of nothing', [message('user', text('x')), message('tool', reply('a'))], 1],
    ['a second result', [message('assistant', call('a')), message('tool', reply('a'), reply('a'))], undefined],
    ['a result for a parked turn', [message('tool', reply(PARKED))], undefined],
  ])('is found in %s', (_, messages, at) => {
    expect(strayReply(messages)).toBe(at)
  })
})

describe('a history for a server', () => {
  test('has a result for a call that was never run, right after it', () => {
    const before = [message('user', text('x')), message('assistant', call('a'), call('b')), message('tool', reply('b'))]
    expect(answeredHistory(before, [])).toEqual([
      before[0],
      before[1],
      message('tool', reply('a', 'cancelled')),
      before[2],
    ])
  })

  test('stays as it is when the input brings the result', () => {
    const before = [message('assistant', call('a'))]
    expect(answeredHistory(before, [reply('a')])).toEqual(before)
  })

  test('has a result for every call, and loses and moves nothing', () => {
    fc.assert(
      fc.property(conversation, (history) => {
        const answered = answeredHistory(history, [])
        const parts = answered.flatMap((said) => said.parts)
        const results = new Set(parts.flatMap((one) => (one.type === 'tool-reply' ? one.tool : [])))
        for (const one of parts) if (one.type === 'tool-call') expect(results).toContain(one.tool)
        expect(answered.filter((said) => history.includes(said))).toEqual(history)
        expect(answeredHistory(answered, [])).toEqual(answered)
      }),
    )
  })
})

test.each([
  [{ name: 'f' }, 'f'],
  [{ namespace: 'files', name: 'read' }, 'files__read'],
  [{ namespace: '', name: 'read' }, '__read'],
])('the tool %j is named %s where there are no groups', (tool, name) => {
  expect(flatToolName(tool)).toBe(name)
})

test('a message is the answer unless it is of somebody else', () => {
  const view = { role: 'assistant', lane: undefined } as Parameters<typeof isAnswer>[0]
  expect(isAnswer(view)).toBe(true)
  expect(isAnswer({ ...view!, lane: 'sub' })).toBe(false)
  expect(isAnswer({ ...view!, role: 'user' })).toBe(false)
  expect(isAnswer({ ...view!, role: 'tool' })).toBe(false)
  expect(isAnswer(undefined)).toBe(false)
})

test('the own options of a codec have the keys of their schema', () => {
  const schema = v.object({ model: v.string(), streaming: v.optional(v.boolean()) })
  expect(ownOptions(schema)).toEqual({ schema, keys: ['model', 'streaming'] })
})
