import { expect, test } from 'vitest'
import type { Route } from '../../src/contract/index.ts'
import { takeLines } from '../../src/engine/events/event-lines.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import { conversationDigest, knownAs, type Told } from '../../src/engine/record/conversation.ts'
import {
  addEvent,
  addSteered,
  endOf,
  movePage,
  newPage,
  runUnder,
  type TurnPage,
} from '../../src/engine/record/turn-page.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { Message, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { plainTurn, start } from '../kit/plain.ts'

const ABOUT = { turn: 't', session: 'S', tenant: 'local', agent: 'plain', front: 'f', startedAt: 1, delivered: false }
const RECORD = { ...ABOUT, owner: 'here', epoch: 0 }
const LEASE = { owner: 'this', epoch: 3 }
const MESSAGE: TurnEvent[] = [
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'hello' },
]
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }

/** A turn with a page that takes its events. */
function paged(command: Partial<TurnStart> = {}, route: Partial<Route> = {}): { page: TurnPage; turn: Turn } {
  const recorder = { event: (_turn: unknown, event: TurnEvent) => void addEvent(page, event) }
  const { turn }: { turn: Turn } = plainTurn({ command: start(command), route, recorder })
  const page: TurnPage = newPage(turn, RECORD)
  return { page, turn }
}

test('events are taken together, with the number of the first one, and once', () => {
  const { page, turn } = paged()
  expect(takeLines(page.lines)).toBeUndefined()
  for (const event of MESSAGE) turn.take(event)
  const first = takeLines(page.lines)!
  expect(numbered([first], 0)).toEqual(MESSAGE.map((event, at) => ({ seq: at + 1, event })))
  expect(takeLines(page.lines)).toBeUndefined()
  turn.take(END)
  expect(takeLines(page.lines)).toEqual({ turn: 't', seq: 3, lines: JSON.stringify(END) })
})

test('an end is the whole record of a turn, with what it adds', () => {
  const { page, turn } = paged()
  for (const event of [...MESSAGE, END]) turn.take(event)
  const [record, additions] = endOf(page)
  expect(record).toMatchObject({
    ...RECORD,
    outcome: 'completed',
    endedAt: turn.view.at,
    losses: [],
  })
  expect(record.measures).not.toHaveProperty('shape')
  expect(additions).toEqual({
    events: {
      turn: 't',
      seq: 1,
      lines: `${JSON.stringify(MESSAGE[0])}\n[1,"m","hello"]\n${JSON.stringify(END)}`,
    },
    messages: [
      { role: 'user', parts: [{ type: 'text', text: 'hi' }], at: turn.view.startedAt },
      { role: 'assistant', parts: [{ type: 'text', text: 'hello' }], at: turn.view.at },
    ],
  })
})

test('an end has the lease under which its turn was recorded as running, and the code of its fault', () => {
  const { page, turn } = paged()
  expect(runUnder(page, LEASE)).toEqual({ ...RECORD, ...LEASE })
  const fault = { code: 'timeout', message: 'late', retryable: true } as const
  turn.take({ ...END, outcome: 'failed', fault })
  expect(endOf(page)[0]).toMatchObject({ ...LEASE, outcome: 'failed', code: 'timeout' })
})

test('a transcript has no lanes, no echo of the prompt and no empty message, and no prompt of another task', () => {
  const { page, turn } = paged({ task: 'compact' })
  const message = (id: string, more: object, text?: string): void => {
    turn.take({ type: 'message-start', turn: 't', message: id, role: 'assistant', ...more })
    if (text !== undefined) turn.take({ type: 'text-delta', turn: 't', message: id, text })
    turn.take({ type: 'message-end', turn: 't', message: id })
  }
  message('echo', { role: 'user' }, 'hi')
  message('aside', { lane: 'sub' }, 'thinking')
  message('empty', {})
  message('said', {}, 'done')
  turn.take(END)
  expect(endOf(page)[1].messages?.map(({ role, parts }) => [role, parts])).toEqual([
    ['assistant', [{ type: 'text', text: 'done' }]],
  ])
})

test('a transcript has what the client said meanwhile, where it said it', () => {
  const { page, turn } = paged()
  for (const event of MESSAGE) turn.take(event)
  addSteered(page, [{ type: 'text', text: 'more' }])
  addSteered(page, [{ type: 'text', text: 'and more' }])
  turn.take({ ...MESSAGE[0]!, message: 'n' } as TurnEvent)
  turn.take({ ...MESSAGE[1]!, message: 'n', text: 'done' } as TurnEvent)
  turn.take(END)
  const said = endOf(page)[1].messages?.map(({ role, parts }) => [
    role,
    ...parts.map((part) => 'text' in part && part.text),
  ])
  expect(said).toEqual([
    ['user', 'hi'],
    ['assistant', 'hello'],
    ['user', 'more'],
    ['user', 'and more'],
    ['assistant', 'done'],
  ])
})

test.each([
  ['is told the whole conversation', { historyMode: 'complete' }, ['system', 'user', 'assistant']],
  ['goes on after a turn', { historyMode: 'complete', after: 't0' }, ['user', 'assistant']],
  ['is told more of it', { historyMode: 'delta' }, ['system', 'user', 'assistant']],
  ['may know it', {}, ['user', 'assistant']],
] as const)('a transcript begins with what the client tells where its session %s', (_how, more, roles) => {
  const history = [{ role: 'system', parts: [{ type: 'text', text: 'be kind' }] }] as const
  const { page, turn } = paged({ history, ...more })
  for (const event of [...MESSAGE, END]) turn.take(event)
  expect(endOf(page)[1].messages?.map(({ role }) => role)).toEqual(roles)
})

test.each<[outcome: 'completed' | 'failed', told: Told | undefined, known: boolean]>([
  ['completed', { named: 'n', digest: 'before' }, true],
  ['completed', undefined, false],
  ['failed', { named: 'n', digest: 'before' }, false],
])('a turn that has %s after %j leaves a known conversation: %s', (outcome, told, known) => {
  const page: { is?: TurnPage } = {}
  const recorder = { event: (_turn: unknown, event: TurnEvent) => void addEvent(page.is!, event) }
  const { turn } = plainTurn({ command: start(), recorder })
  page.is = newPage(turn, RECORD, told)
  for (const event of [...MESSAGE, { ...END, outcome }]) turn.take(event)
  const said: Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'hello' }] },
  ]
  const expected = knownAs({ named: 'n', digest: conversationDigest(said, 'before') }, RECORD)
  expect(endOf(page.is)[1].known).toBe(known ? expected : undefined)
})

test('of a secret turn there is the shape alone, and its events are kept for those who join it', () => {
  const { page, turn } = paged({}, { journal: 'shape' })
  for (const event of [...MESSAGE, END]) turn.take(event)
  expect(page.unkept).toEqual([...MESSAGE, END].map((event, at) => ({ seq: at + 1, event })))
  const [record, additions] = endOf(page)
  expect(record.measures).toMatchObject({ shape: true })
  expect(additions.messages).toBeUndefined()
  expect(JSON.stringify([record, additions])).not.toContain('hello')
})

test('each event says how many characters wait with it', () => {
  const { turn } = plainTurn({ command: start() })
  const page = newPage(turn, RECORD)
  expect(MESSAGE.map((event) => addEvent(page, event))).toEqual([JSON.stringify(MESSAGE[0]).length, 15])
  expect(page.lines.text).toHaveLength(JSON.stringify(MESSAGE[0]).length + 15)
})

test('a page of a turn that begins has nothing to write, and nothing of it is in the store', () => {
  const { page } = paged()
  expect([page.begun, page.place, page.waitsSince, page.writing, page.steered]).toEqual([
    false,
    -1,
    0,
    undefined,
    undefined,
  ])
})

test('a turn that moves is recorded in the other session, under the agent that takes it', () => {
  const { page, turn } = paged()
  Object.assign(turn, { agent: { ...turn.agent, name: 'other' } })
  movePage(page, 'S2')
  expect(page.record).toEqual({ ...RECORD, session: 'S2', agent: 'other' })
})

test('input of the client has the number of messages that had begun before it', () => {
  const { page, turn } = paged()
  addSteered(page, [{ type: 'text', text: 'early' }])
  for (const event of MESSAGE) turn.take(event)
  addSteered(page, [{ type: 'text', text: 'late' }])
  expect(page.steered).toEqual([
    { after: 0, parts: [{ type: 'text', text: 'early' }] },
    { after: 1, parts: [{ type: 'text', text: 'late' }] },
  ])
})

test('an end has the losses and measures of its turn', () => {
  const { page, turn } = paged()
  turn.take(END)
  const [record] = endOf(page)
  expect(record.losses).toEqual(turn.recordedLosses)
  expect(record.measures).toEqual({ ...turn.scope.measures })
})

test.each([
  ['whole', 'it broke', 'it broke'],
  ['cut to 1000 characters', 'x'.repeat(1001), 'x'.repeat(1000)],
  ['without half a character', `${'x'.repeat(999)}😀`, `${'x'.repeat(999)}\ufffd`],
  ['without NUL', 'a\0b\0', 'ab'],
])('the message of an error is kept for lists %s', (_how, message, kept) => {
  const { page, turn } = paged()
  turn.take({ ...END, outcome: 'failed', fault: { code: 'timeout', message, retryable: true } })
  expect(endOf(page)[0].measures).toMatchObject({ error: kept })
})

test('the message of an error of a secret turn is not kept', () => {
  const { page, turn } = paged({}, { journal: 'shape' })
  turn.take({ ...END, outcome: 'failed', fault: { code: 'timeout', message: 'secret', retryable: true } })
  const [record] = endOf(page)
  expect(record.measures).not.toHaveProperty('error')
  expect(record.code).toBe('timeout')
})

test('an end says how many of its messages are what its client told before it', () => {
  const history = [
    { role: 'user', parts: [{ type: 'text', text: 'one' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'two' }] },
  ] as const
  const { page, turn } = paged({ history, historyMode: 'complete' })
  turn.take(END)
  expect(endOf(page)[0].measures).toMatchObject({ told: 2 })
  const secret = paged({ history, historyMode: 'complete' }, { journal: 'shape' })
  secret.turn.take(END)
  expect(endOf(secret.page)[0].measures).not.toHaveProperty('told')
  const none = paged({ historyMode: 'complete' })
  none.turn.take(END)
  expect(endOf(none.page)[0].measures).not.toHaveProperty('told')
})

test('an end adds what its tenant is charged for it, and how its request came', () => {
  const { page, turn } = paged()
  Object.defineProperty(turn, 'wire', { value: { front: 'acp' } })
  turn.take(END)
  const spent = { day: 1, tokens: 2, estimated: 0, costUsd: 3 }
  expect(endOf(page, spent)[1]).toMatchObject({ spent, wire: '{"front":"acp"}' })
})

test('an end has no member for what it does not add', () => {
  const { page, turn } = paged({}, { journal: 'shape' })
  turn.take(END)
  takeLines(page.lines)
  expect(endOf(page)[1]).toStrictEqual({})
})

test('calls of the client are part of a known conversation, and calls of the agent are not', () => {
  const known = (executor: 'client' | 'agent') => {
    const page: { is?: TurnPage } = {}
    const recorder = { event: (_turn: unknown, event: TurnEvent) => void addEvent(page.is!, event) }
    const { turn } = plainTurn({ command: start(), recorder })
    page.is = newPage(turn, RECORD, { named: 'n', digest: '' })
    turn.take({ type: 'tool-start', turn: 't', tool: 'c', name: 'ls', executor })
    turn.take({ type: 'tool-call', turn: 't', tool: 'c', name: 'ls', executor, args: '{}' })
    turn.take({ type: 'tool-end', turn: 't', tool: 'c', status: 'ok', parts: [] })
    turn.take(END)
    return endOf(page.is)[1].known
  }
  const said: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }]
  expect(known('agent')).toBe(knownAs({ named: 'n', digest: conversationDigest(said) }, RECORD))
  expect(known('client')).not.toBe(known('agent'))
})
