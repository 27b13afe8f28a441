import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AskAnswered } from '../../src/engine/turn/turn-peers.ts'
import type { AskReply, EventOf, Question, TurnEvent } from '../../src/model/index.ts'
import { type PlainTurn, plainTurn } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const APPROVAL: Question = {
  kind: 'approval',
  name: 'rm',
  args: '{}',
  options: [
    { id: 'yes!', kind: 'allow', scope: 'always' },
    { id: 'yes', kind: 'allow', scope: 'once' },
    { id: 'no', kind: 'deny', scope: 'once' },
  ],
}
const ask = (id: string, question: Question = APPROVAL, deadline?: number): EventOf<'ask'> => ({
  type: 'ask',
  turn: 't',
  ask: id,
  question,
  ...(deadline !== undefined && { deadline }),
})
const pick = (option: string): AskReply => ({ kind: 'approval', option })

/** A turn that asks, with what its agent was answered. */
function asking(how: PlainTurn = {}) {
  const parts = plainTurn(how)
  const { turn } = parts
  const sent: unknown[] = []
  Object.assign(turn, { link: { send: (command: unknown) => sent.push(command), pause() {} } })
  const { asks } = parts.run
  /** The agent asks: what its clients are shown is taken as a run does it. */
  const asked = (event: EventOf<'ask'>): void => {
    if (asks.asked(event)) turn.take(asks.shown(event))
  }
  const answer = (id: string | undefined, reply: AskReply, continuation?: string): AskAnswered =>
    asks.answer(
      {
        exchange: 'y',
        type: 'ask-reply',
        target: continuation === undefined ? { turn: 't' } : { continuation },
        reply,
        ...(id !== undefined && { ask: id }),
      },
      'client me',
    )
  const replies = (): unknown[] => sent.map((command) => (command as { ask: string; reply: AskReply }).reply)
  const audits = (): unknown[] =>
    parts.told.flatMap(([what, about]) =>
      what === 'a question of an agent was settled' ? [(about as { by: string }).by] : [],
    )
  return { ...parts, asks, asked, answer, sent, replies, audits }
}

const settledOf = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === 'ask-settled' ? [[event.ask, event.how, event.by, event.option]] : []))

describe('a client that can be asked', () => {
  test('is asked once, and its first answer counts', () => {
    const { asked, answer, asks, host, replies, turn } = asking()
    asked(ask('q'))
    asked(ask('q'))
    expect(host.types).toEqual(['ask'])
    expect([asks.waiting, turn.questions?.waiting]).toEqual([true, true])
    expect(answer('q', pick('yes'))).toBe('taken')
    expect(answer('q', pick('no'))).toBe('gone')
    expect(replies()).toEqual([pick('yes')])
    expect(settledOf(host.events)).toEqual([['q', 'answered', 'client me', 'yes']])
    expect([asks.waiting, turn.questions?.waiting]).toEqual([false, false])
  })

  test('is asked inline, and the turn is not parked', async () => {
    const { asked, answer, asks, host } = asking()
    for (const id of ['q', 'q2', 'q3']) asked(ask(id))
    await Promise.resolve()
    answer('q', pick('yes'))
    answer('q2', pick('maybe'), 't.token')
    asks.left()
    await Promise.resolve()
    expect(host.types).toEqual(['ask', 'ask', 'ask', 'ask-settled'])
    expect([asks.parked, asks.waiting]).toEqual([undefined, true])
  })

  test('that answers under a token while nothing is parked must name one of several questions', () => {
    const { asked, answer } = asking()
    asked(ask('q'))
    asked(ask('q2'))
    expect(answer(undefined, pick('yes'), 't.token')).toBe('gone')
  })

  test('need not name the only question, but one of several', () => {
    const { asked, answer } = asking()
    asked(ask('q'))
    expect(answer(undefined, pick('yes'))).toBe('taken')
    asked(ask('q2'))
    asked(ask('q3'))
    expect(answer(undefined, pick('yes'))).toBe('gone')
  })

  test.each<[Question, AskReply, AskAnswered]>([
    [APPROVAL, { kind: 'input', values: '{}' }, { mismatch: 'The question wants an answer of the kind "approval".' }],
    [APPROVAL, pick('maybe'), { mismatch: 'The question has no such option; choose one of: yes!, yes, no.' }],
    [APPROVAL, pick('deny'), { mismatch: 'The question has no such option; choose one of: yes!, yes, no.' }],
    [{ ...APPROVAL, options: [{ id: 'go', kind: 'allow', scope: 'once' }] }, pick('deny'), 'taken'],
    [{ kind: 'input', message: 'm' }, { kind: 'input', values: '{}' }, 'taken'],
  ])('%j is answered by %j: %j', (question, reply, became) => {
    const { asked, answer, asks } = asking()
    asked(ask('q', question))
    expect(answer('q', reply)).toEqual(became)
    expect(asks.waiting).toBe(became !== 'taken')
  })

  test('that does not answer in time has said no', () => {
    const { asked, host, replies, audits } = asking()
    asked(ask('q'))
    vi.advanceTimersByTime(4999)
    expect(settledOf(host.events)).toEqual([])
    vi.advanceTimersByTime(1)
    expect(settledOf(host.events)).toEqual([['q', 'timeout', 'policy', undefined]])
    expect([replies(), audits()]).toEqual([[pick('no')], ['policy']])
  })

  test.each([
    [2000, 2000],
    [1e9, 5005],
    [0, 5],
  ])('is told of the deadline %i the earliest that holds: %i', (deadline, shown) => {
    const { asked, host } = asking()
    asked(ask('q', APPROVAL, deadline))
    expect(host.events.map((event) => event.type === 'ask' && event.deadline)).toEqual([shown])
  })

  test('is told when the agent takes a question back, not when it confirms an answer', () => {
    const { asked, asks, answer, audits } = asking()
    const settled = (id: string): EventOf<'ask-settled'> => ({
      type: 'ask-settled',
      turn: 't',
      ask: id,
      how: 'cancelled',
    })
    asked(ask('q'))
    expect(asks.settled(settled('q'))).toBe(true)
    asked(ask('q2'))
    answer('q2', pick('yes'))
    expect(asks.settled(settled('q2'))).toBe(false)
    expect(audits()).toEqual(['agent', 'client me'])
  })
})

describe('a client that cannot be asked', () => {
  test.each<[Question, 'allow' | 'deny', AskReply]>([
    [APPROVAL, 'allow', pick('yes')],
    [APPROVAL, 'deny', pick('no')],
    [{ ...APPROVAL, options: [] }, 'allow', pick('allow')],
    [{ kind: 'input', message: 'm' }, 'allow', { kind: 'input', values: '{}' }],
    [
      { kind: 'client', method: 'm', params: '{}' },
      'allow',
      { kind: 'client', error: '{"message":"There is no client that could do this."}' },
    ],
    [{ kind: 'tool', tool: 'x' }, 'deny', { kind: 'tool', status: 'denied', parts: [] }],
  ])('has %j answered by the policy %s: %j', async (question, approvals, reply) => {
    const { asked, replies, host, audits } = asking({ answer: { asks: 'never' }, route: { approvals } })
    asked(ask('q', question))
    expect(replies()).toEqual([])
    await Promise.resolve()
    expect([replies(), host.types, audits()]).toEqual([[reply], ['notice'], ['policy']])
  })

  test('too much has no more than a thousand open questions', () => {
    const { asked, replies, asks, host } = asking()
    for (let at = 0; at < 1002; at += 1) asked(ask(`q${at}`))
    expect(host.types.filter((type) => type === 'ask')).toHaveLength(1000)
    expect(host.events.at(-1)).toMatchObject({ type: 'notice', code: 'ask-policy' })
    expect(host.events.at(-1)).toHaveProperty('text', expect.stringContaining('1000 questions are open'))
    return Promise.resolve().then(() => {
      expect([replies(), asks.waiting]).toEqual([[pick('no'), pick('no')], true])
    })
  })

  test('any more, as its input has ended, has its open questions answered by the policy', () => {
    const { asked, asks, host, replies } = asking()
    asked(ask('q'))
    host.client.inputClosed = true
    asks.onInputClosed()
    expect(replies()).toEqual([pick('no')])
    expect(settledOf(host.events)).toEqual([['q', 'answered', 'policy', 'no']])
  })
})

describe('a client whose next request can answer', () => {
  const parkable: PlainTurn = { answer: { asks: 'next-request', form: 'accepted' } }

  test('has the turn parked once, with all that was asked together', async () => {
    const { asked, asks, turn, told } = asking(parkable)
    asked(ask('q'))
    asked(ask('q2'))
    expect(asks.parked).toBeUndefined()
    await Promise.resolve()
    expect(asks.parked?.continuation).toMatch(/^t\.[\w-]{24}$/)
    expect(asks.parked?.asks.map((open) => open.ask)).toEqual(['q', 'q2'])
    expect(asks.parked?.seq).toBe(turn.view.seq)
    expect(told.filter(([what, type]) => what === 'event' && type === 'turn-parked')).toHaveLength(1)
  })

  test('is asked again for what is open, and under a new token after each answer', async () => {
    const { asked, asks, answer, replies } = asking(parkable)
    asked(ask('q'))
    asked(ask('q2'))
    await Promise.resolve()
    const first = asks.parked!.continuation
    expect(answer('q', pick('maybe'), first)).toHaveProperty('mismatch')
    await Promise.resolve()
    const second = asks.parked!.continuation
    expect(second).not.toBe(first)
    expect(answer(undefined, pick('yes'), second)).toBe('taken')
    await Promise.resolve()
    const third = asks.parked!
    expect(third.asks.map((open) => open.ask)).toEqual(['q2'])
    expect(third.continuation).not.toBe(second)
    expect(answer('q2', pick('no'), third.continuation)).toBe('taken')
    await Promise.resolve()
    expect([asks.parked, replies()]).toEqual([undefined, [pick('yes'), pick('no')]])
  })

  test('is asked again only under its token: an answer without one names what it answers', async () => {
    const { asked, asks, answer } = asking(parkable)
    asked(ask('q'))
    asked(ask('q2'))
    await Promise.resolve()
    const { continuation } = asks.parked!
    expect(answer(undefined, pick('yes'))).toBe('gone')
    expect(answer('none', pick('yes'))).toBe('gone')
    await Promise.resolve()
    expect(asks.parked?.continuation).toBe(continuation)
    expect(answer('none', pick('yes'), continuation)).toBe('gone')
    await Promise.resolve()
    expect(asks.parked?.continuation).not.toBe(continuation)
  })

  test('finds a question that comes while the turn is parked among the others, under the same token', async () => {
    const { asked, asks, told } = asking(parkable)
    asked(ask('q'))
    await Promise.resolve()
    const { continuation } = asks.parked!
    asked(ask('q2'))
    await Promise.resolve()
    expect(asks.parked?.continuation).toBe(continuation)
    expect(asks.parked?.asks.map((open) => open.ask)).toEqual(['q', 'q2'])
    expect(told.filter(([what, type]) => what === 'event' && type === 'turn-parked')).toHaveLength(1)
  })

  test.each<[leaves: string, inline: boolean, later: boolean, parked: boolean]>([
    ['one that could be asked, and another one can answer later', false, true, true],
    ['one, and another one can still be asked', true, true, false],
    ['one, and no other can answer', false, false, false],
  ])('has the turn parked when another client leaves: %s', async (_leaves, inline, later, parked) => {
    const { asked, asks, host } = asking(later ? parkable : {})
    host.client.leavesAsks = true
    asked(ask('q'))
    host.client.leavesAsks = inline
    host.client.inputClosed = true
    asks.left()
    await Promise.resolve()
    expect([asks.parked !== undefined, asks.waiting]).toEqual([parked, true])
  })

  test('keeps its park when another client leaves, or ends its input', async () => {
    const { asked, asks, host, replies } = asking(parkable)
    asked(ask('q'))
    await Promise.resolve()
    const before = asks.parked
    asks.left()
    host.client.inputClosed = true
    asks.onInputClosed()
    await Promise.resolve()
    expect([asks.parked, replies()]).toEqual([before, []])
  })

  test('is waited for when the input of another one ends before the turn is parked', async () => {
    const { asked, asks, replies, host } = asking(parkable)
    host.client.leavesAsks = true
    asked(ask('q'))
    host.client.leavesAsks = false
    asks.onInputClosed()
    await Promise.resolve()
    expect([asks.waiting, replies()]).toEqual([true, []])
  })
})

test.each(['cancelled', 'ended'] as const)(
  'a turn that is %s refuses what is asked, without a word to anybody',
  async (how) => {
    const { turn, asks, replies, host, audits } = asking()
    if (how === 'cancelled') turn.cancelled = true
    else turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
    const before = host.events.length
    expect(asks.asked(ask('q'))).toBe(false)
    await Promise.resolve()
    expect([replies(), host.events.length - before, audits(), asks.waiting]).toEqual([[pick('no')], 0, [], false])
  },
)

test('a turn that ends settles what is open, and refuses what is asked after that', async () => {
  const { asked, host, turn, replies, asks } = asking()
  asked(ask('q'))
  turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
  expect(host.types).toEqual(['ask', 'ask-settled', 'turn-end'])
  expect(settledOf(host.events)).toEqual([['q', 'cancelled', 'turn', undefined]])
  expect(asks.asked(ask('q2'))).toBe(false)
  await Promise.resolve()
  expect(replies()).toEqual([pick('no')])
  expect(turn.losses.list).toEqual([])
})

test('other settings of a client go to the agent with one answer, over those of the session', () => {
  const { asks, asked, answer, sent, turn } = asking()
  turn.session.record.settings = { model: 'm', effort: 'low' }
  expect(asks.settings).toBe(turn.command)
  asked(ask('a'))
  asked(ask('b'))
  const said = { options: { effort: 'high', topP: 1 } }
  asks.change(said, { options: { effort: 'high' } })
  expect(asks.settings).toBe(said)
  answer('a', pick('yes'))
  answer('b', pick('no'))
  const settings = { options: { model: 'm', effort: 'high' } }
  expect(sent).toMatchObject([{ ask: 'a', settings }, { ask: 'b' }])
  expect(sent[1]).not.toHaveProperty('settings')
})
