import { expect, test } from 'vitest'
import type { Route } from '../../src/contract/index.ts'
import { takeLines } from '../../src/engine/events/event-lines.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import { conversationDigest, knownAs, type Told } from '../../src/engine/record/conversation.ts'
import { addEvent, addSteered, endOf, newPage, runUnder, type TurnPage } from '../../src/engine/record/turn-page.ts'
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
