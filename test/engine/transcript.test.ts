import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { messagesOf } from '../../src/engine/record/transcript.ts'
import type { Message, Part, TurnEvent } from '../../src/model/index.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

type Said = { [T in TurnEvent['type']]: Omit<Extract<TurnEvent, { type: T }>, 'turn'> }[TurnEvent['type']]

/** The roles and parts of a transcript after these events. */
function transcriptAfter(
  events: readonly Said[],
  { memory = 'process', steered = [] as Parameters<typeof messagesOf>[1] } = {},
) {
  const agent = plainAgent('', {}, { memory: memory as 'process' })
  const { turn } = plainTurn({ command: start({ turn: 't' }), agent })
  for (const event of events) turn.take({ turn: 't', ...event } as TurnEvent)
  return messagesOf(turn, steered)
    .slice(1)
    .map(({ role, parts }) => [role, parts] as const)
}

const message = (id: string, text: string, parts?: readonly Part[]): Said[] => [
  { type: 'message-start', message: id, role: 'assistant' } as Said,
  { type: 'text-delta', message: id, text } as Said,
  { type: 'message-end', message: id, ...(parts && { parts }) } as Said,
]
const call = (tool: string, more: object = {}): Said =>
  ({ type: 'tool-call', tool, name: 'add', args: '{"a":1.0}', executor: 'client', ...more }) as Said
const result = (tool: string, text: string): Said =>
  ({ type: 'tool-end', tool, status: 'ok', parts: [{ type: 'text', text }] }) as Said

const text = (said: string): Part => ({ type: 'text', text: said })
const callPart = (tool: string): Part => ({ type: 'tool-call', tool, name: 'add', args: '{"a":1.0}' })
const replyPart = (tool: string, said: string): Part => ({
  type: 'tool-reply',
  tool,
  status: 'ok',
  parts: [text(said)],
})
const seal: Part = { type: 'reasoning', text: 'hm', seal: { provider: 'p', data: 'c2VhbA==' } }

describe('a transcript', () => {
  test.each<[string, Said[], unknown]>([
    [
      'has a call behind the text that it came with, and its result before what follows',
      [...message('m', 'let me see'), call('c'), result('c', '1'), ...message('n', 'done')],
      [
        ['assistant', [text('let me see'), callPart('c')]],
        ['tool', [replyPart('c', '1')]],
        ['assistant', [text('done')]],
      ],
    ],
    [
      'has results in the order of their calls, whatever order they came in',
      [...message('m', 'both'), call('c'), call('d'), result('d', '2'), result('c', '1')],
      [
        ['assistant', [text('both'), callPart('c'), callPart('d')]],
        ['tool', [replyPart('c', '1'), replyPart('d', '2')]],
      ],
    ],
    [
      'has calls without a text before them',
      [call('c'), result('c', '1'), ...message('m', 'done')],
      [
        ['assistant', [callPart('c')]],
        ['tool', [replyPart('c', '1')]],
        ['assistant', [text('done')]],
      ],
    ],
    [
      'has a call once that is a part of its message, and reasoning with its seal',
      [...message('m', 'x', [seal, text('x'), callPart('c')]), call('c'), result('c', '1')],
      [
        ['assistant', [seal, text('x'), callPart('c')]],
        ['tool', [replyPart('c', '1')]],
      ],
    ],
    ['has a call without a result', [...message('m', 'x'), call('c')], [['assistant', [text('x'), callPart('c')]]]],
    [
      'has no call whose arguments never came',
      [...message('m', 'x'), { type: 'tool-start', tool: 'c', name: 'add', executor: 'client' } as Said],
      [['assistant', [text('x')]]],
    ],
    ['has no call of a sub-agent', [...message('m', 'x'), call('c', { lane: 'sub' })], [['assistant', [text('x')]]]],
    [
      'has no call that the agent ran itself',
      [...message('m', 'x'), call('c', { executor: 'agent' }), result('c', '1')],
      [['assistant', [text('x')]]],
    ],
    [
      'has a call behind an echo of the prompt',
      [{ type: 'message-start', message: 'e', role: 'user' } as Said, call('c'), ...message('m', 'x')],
      [
        ['assistant', [callPart('c')]],
        ['assistant', [text('x')]],
      ],
    ],
  ])('%s', (_what, events, expected) => {
    expect(transcriptAfter(events)).toEqual(expected)
  })

  test('of an agent that keeps nothing has every call', () => {
    const events = [...message('m', 'x'), call('c', { executor: 'agent' }), result('c', 'There is no such tool.')]
    expect(transcriptAfter(events, { memory: 'request' })).toEqual([
      ['assistant', [text('x'), callPart('c')]],
      ['tool', [replyPart('c', 'There is no such tool.')]],
    ])
  })

  test('has what the client said meanwhile behind the results that it came with', () => {
    const events = [...message('m', 'x'), call('c'), result('c', '1'), ...message('n', 'done')]
    expect(transcriptAfter(events, { steered: [{ after: 1, parts: [text('hurry')] }] })).toEqual([
      ['assistant', [text('x'), callPart('c')]],
      ['tool', [replyPart('c', '1')]],
      ['user', [text('hurry')]],
      ['assistant', [text('done')]],
    ])
  })

  test('has everything once and in order, however messages and calls follow each other', () => {
    const step = fc.record({ says: fc.boolean(), calls: fc.nat(2) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        const expected: unknown[] = []
        const events = steps.flatMap(({ says, calls }, at): Said[] => {
          const ids = Array.from({ length: calls }, (_, index) => `c${at}-${index}`)
          const parts = [...(says ? [text(`m${at}`)] : []), ...ids.map(callPart)]
          if (parts.length > 0) expected.push(...parts)
          expected.push(...ids.map((id) => replyPart(id, id)))
          return [
            ...(says ? message(`m${at}`, `m${at}`) : []),
            ...ids.map((id) => call(id)),
            ...ids.map((id) => result(id, id)),
          ]
        })
        const told = transcriptAfter(events).flatMap(([, parts]) => parts)
        const key = (part: unknown): string => JSON.stringify(part)
        expect(told.map(key).sort()).toEqual(expected.map(key).sort())
        const texts = told.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        expect(texts).toEqual(steps.flatMap(({ says }, at) => (says ? [`m${at}`] : [])))
        // A result never comes before its call.
        for (const [at, part] of told.entries()) {
          if (part.type !== 'tool-reply') continue
          expect(told.findIndex((other) => other.type === 'tool-call' && other.tool === part.tool)).toBeLessThan(at)
        }
      }),
    )
  })

  test('begins with the prompt', () => {
    const { turn } = plainTurn({ command: start({ turn: 't' }) })
    const [prompt] = messagesOf(turn)
    expect(prompt).toEqual<Message>({ role: 'user', parts: [text('hi')], at: turn.view.startedAt })
  })
})
