import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { earlierMessages, messagesOf } from '../../src/engine/record/transcript.ts'
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

describe('the conversation before a turn', () => {
  const history: Message[] = [{ role: 'user', parts: [text('before')] }]

  test.each([
    ['delta', false, true],
    ['delta', true, true],
    ['complete', false, true],
    ['complete', true, false],
    [undefined, false, false],
  ] as const)(
    'told by its client in the mode %s, following a turn (%s), is new to its session: %s',
    (mode, follows, isNew) => {
      const command = start({ history, ...(mode && { historyMode: mode }), ...(follows && { after: 't0' }) })
      const { turn } = plainTurn({ command })
      Object.defineProperty(turn, 'follows', { value: follows })
      expect(earlierMessages(turn)).toEqual(isNew ? history : [])
    },
  )

  test('is nothing where its client tells nothing', () => {
    expect(earlierMessages(plainTurn({ command: start({ historyMode: 'delta' }) }).turn)).toEqual([])
  })
})

describe('the prompt of a turn', () => {
  test('is the first message, with the time of its beginning, and of another task there is none', () => {
    const { turn } = plainTurn({ now: () => 7 })
    expect(messagesOf(turn)).toEqual([{ role: 'user', parts: [text('hi')], at: 7 }])
    expect(messagesOf(plainTurn({ command: start({ task: 'compact' }) }).turn)).toEqual([])
  })
})

describe('a message of a transcript', () => {
  test('has its role: an agent may speak for a tool or the system', () => {
    const events: Said[] = [
      { type: 'message-start', message: 'm', role: 'system' } as Said,
      { type: 'text-delta', message: 'm', text: 'careful' } as Said,
    ]
    expect(transcriptAfter(events)).toEqual([['system', [text('careful')]]])
  })

  test('of a lane, or without content, is none', () => {
    const events: Said[] = [
      { type: 'message-start', message: 'a', role: 'assistant', lane: 'sub' } as Said,
      { type: 'text-delta', message: 'a', text: 'aside' } as Said,
      ...message('b', ''),
      ...message('c', 'said'),
    ]
    expect(transcriptAfter(events)).toEqual([['assistant', [text('said')]]])
  })

  test('has the parts that the agent gave at its end, and none twice', () => {
    const parts = [seal, text('done'), callPart('c')]
    const events = [...message('m', 'do', parts), call('c'), result('c', '1')]
    expect(transcriptAfter(events)).toEqual([
      ['assistant', parts],
      ['tool', [replyPart('c', '1')]],
    ])
  })
})
