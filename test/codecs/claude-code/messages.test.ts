import { describe, expect, test } from 'vitest'
import { type Claude, claude, greeted, type Sent } from './kit.ts'

const cancel = (agent: Claude): void => agent.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
const steer = (agent: Claude, text = 'more'): void =>
  agent.link.encode({ type: 'turn-steer', exchange: 'x3', target: 'running', input: [{ type: 'text', text }] })
const say = (agent: Claude, text: string): void =>
  agent.line({ type: 'assistant', message: { id: text, content: [{ type: 'text', text }] } })
/** The ids of the messages among these lines. */
const uuids = (sent: Sent[]): string[] => sent.flatMap(({ uuid }) => uuid ?? [])
/** The control requests among these lines: their subtypes, and the messages that they are about. */
const requests = (sent: Sent[]): unknown[] =>
  sent.flatMap(({ request }) => (request ? [[request.subtype, request['message_uuid']]] : []))
const ends = (agent: Claude): unknown[] => agent.of('turn-end').map(({ turn, outcome }) => [turn, outcome])
const texts = (agent: Claude): string[] => agent.of('text-delta').map(({ text }) => text)
/** What was said without a turn. */
const unasked = (agent: Claude): string[] =>
  agent.of('notice').flatMap(({ turn, text }) => (turn === null ? [text] : []))

/** An agent that says what becomes of its messages, and has taken up the prompt of `t1`. */
function telling(): Claude {
  const agent = greeted()
  agent.start('hi')
  agent.reports('queued')
  agent.reports('started')
  agent.init()
  agent.sentNow()
  return agent
}

/** One that began a turn itself, of which nothing was read when it got the prompt of `t2`. */
function ahead(): Claude {
  const agent = telling()
  agent.result({ result: 'Hello.' })
  agent.start('next', { turn: 't2' })
  agent.init()
  agent.reports('queued')
  return agent
}

describe('further input', () => {
  test('is a message with an id of its own', () => {
    const agent = telling()
    steer(agent)
    steer(agent)
    const sent = agent.sentNow()
    expect(sent).toMatchObject([{ message: { content: [{ text: 'more' }] } }, {}])
    expect(new Set(uuids(sent)).size).toBe(2)
  })

  test('that is taken up within the answer ends with it', () => {
    const agent = telling()
    steer(agent)
    for (const state of ['queued', 'started', 'completed']) agent.reports(state)
    agent.result({ result: 'Both.' })
    expect(ends(agent)).toEqual([['t1', 'completed']])
  })

  test('that is taken up after the answer is answered in the same turn', () => {
    const agent = telling()
    steer(agent)
    agent.reports('queued')
    say(agent, 'First.')
    const opus = { inputTokens: 10, outputTokens: 6 }
    agent.result({ total_cost_usd: 0.5, modelUsage: { opus } })
    expect(ends(agent)).toEqual([])
    agent.reports('started')
    agent.init()
    agent.result({
      result: 'Second.',
      stop_reason: 'max_tokens',
      total_cost_usd: 0.75,
      modelUsage: { opus: { inputTokens: 30, outputTokens: 7 } },
    })
    agent.reports('completed')
    expect(texts(agent)).toEqual(['First.', 'Second.'])
    expect(agent.of('message-start')).toHaveLength(2)
    expect(agent.of('usage')).toMatchObject([{ scope: 'turn', usage: { input: 30, output: 7, costUsd: 0.75 } }])
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'completed', stop: 'max-tokens' }])
    expect(agent.losses).toEqual([])
  })

  test('follows an answer that only its result holds', () => {
    const agent = telling()
    steer(agent)
    agent.result({ result: 'First.' })
    agent.result()
    expect(texts(agent)).toEqual(['First.'])
    agent.reports('started')
    agent.result({ result: 'Second.' })
    expect(texts(agent)).toEqual(['First.', 'Second.'])
    expect(ends(agent)).toEqual([['t1', 'completed']])
  })

  test.each(['cancelled', 'discarded', 'refused'])('that is %s is a loss', (state) => {
    const after = telling()
    steer(after)
    after.result({ stop_reason: 'refusal' })
    after.reports(state)
    expect(after.of('turn-end')).toMatchObject([{ outcome: 'completed', stop: 'refusal' }])
    const before = telling()
    steer(before)
    before.reports(state)
    expect(before.of('turn-end')).toEqual([])
    before.result()
    expect(before.of('turn-end')).toHaveLength(1)
    for (const { losses } of [after, before]) expect(losses).toMatchObject([{ kind: 'dropped', item: 'turn-steer' }])
  })

  test('that is left over when one before it was refused goes on waiting', () => {
    const agent = telling()
    steer(agent)
    const [first] = uuids(agent.sentNow())
    steer(agent)
    agent.result()
    agent.reports('cancelled', first)
    expect(ends(agent)).toEqual([])
    agent.reports('started')
    agent.result()
    expect(ends(agent)).toEqual([['t1', 'completed']])
  })

  test('that waits when the turn fails is withdrawn, and a loss', () => {
    const agent = telling()
    steer(agent)
    const [waiting] = uuids(agent.sentNow())
    agent.result({ subtype: 'error_max_turns', is_error: true })
    expect(requests(agent.sentNow())).toEqual([['cancel_async_message', waiting]])
    expect(ends(agent)).toEqual([['t1', 'failed']])
    expect(agent.losses).toMatchObject([{ item: 'turn-steer' }])
    agent.answer('cancel_async_message', { cancelled: true })
    expect(ends(agent)).toHaveLength(1)
  })

  test('that waits when the turn is cancelled is withdrawn, once', () => {
    const agent = telling()
    steer(agent)
    const [waiting] = uuids(agent.sentNow())
    cancel(agent)
    cancel(agent)
    expect(requests(agent.sentNow())).toEqual([
      ['cancel_async_message', waiting],
      ['interrupt', undefined],
    ])
    agent.reports('cancelled')
    agent.result({ terminal_reason: 'aborted_tools', is_error: true })
    expect(ends(agent)).toEqual([['t1', 'cancelled']])
    expect(agent.sentNow()).toEqual([])
    expect(agent.losses).toEqual([])
  })

  test('that waits after the answer of a cancelled turn ends it', () => {
    const agent = telling()
    steer(agent)
    agent.result()
    cancel(agent)
    expect(ends(agent)).toEqual([['t1', 'cancelled']])
    expect(requests(agent.sentNow())).toMatchObject([
      ['cancel_async_message', expect.any(String)],
      ['interrupt', undefined],
    ])
  })

  test('that is taken up before it was withdrawn is interrupted with its turn', () => {
    const agent = telling()
    steer(agent)
    agent.result()
    agent.reports('started')
    cancel(agent)
    expect(ends(agent)).toEqual([])
    agent.result({ terminal_reason: 'aborted_streaming', is_error: true })
    expect(ends(agent)).toEqual([['t1', 'cancelled']])
  })

  test('is withdrawn when an answer of the client stops the turn', () => {
    const agent = telling()
    steer(agent)
    agent.ask({ subtype: 'can_use_tool', tool_name: 'Bash', input: {} })
    const reply = { kind: 'approval', option: 'deny', stopTurn: true } as const
    agent.link.encode({ type: 'ask-reply', exchange: 'x4', target: { turn: 't1' }, ask: 'q1', reply } as never)
    agent.result()
    expect(requests(agent.sentNow())).toMatchObject([['cancel_async_message', expect.any(String)]])
    expect(ends(agent)).toEqual([['t1', 'cancelled']])
    expect(agent.losses).toEqual([])
  })

  test.each([
    [
      'of an agent that does not say when it takes it up',
      () => {
        const agent = greeted()
        agent.start('hi')
        agent.init()
        return agent
      },
    ],
    [
      'before the agent is ready',
      () => {
        const agent = claude()
        agent.start('hi')
        return agent
      },
    ],
    [
      'after a cancel',
      () => {
        const agent = telling()
        cancel(agent)
        return agent
      },
    ],
  ])('%s is a loss', (_when, agentOf) => {
    const agent = agentOf()
    agent.sentNow()
    steer(agent)
    expect(agent.sentNow()).toEqual([])
    expect(agent.losses).toMatchObject([{ kind: 'dropped', item: 'turn-steer' }])
  })

  test('of no turn is nothing', () => {
    const agent = greeted()
    agent.sentNow()
    steer(agent)
    expect(agent.sentNow()).toEqual([])
  })
})

describe('a turn that the agent began itself, while it got a prompt', () => {
  test('ends without the turn of the prompt', () => {
    const agent = ahead()
    say(agent, 'The build is green.')
    agent.result({ result: 'The build is green.' })
    expect(ends(agent)).toEqual([['t1', 'completed']])
    expect(unasked(agent)).toEqual(['The build is green.'])
    agent.reports('started')
    agent.init()
    agent.result({ result: 'The answer.' })
    expect(ends(agent)).toEqual([
      ['t1', 'completed'],
      ['t2', 'completed'],
    ])
    expect(texts(agent)).toEqual(['Hello.', 'The answer.'])
  })

  test('may take the prompt up: the rest is its answer', () => {
    const agent = ahead()
    say(agent, 'The build is green.')
    agent.reports('started')
    expect(unasked(agent)).toEqual(['The build is green.'])
    agent.result({ result: 'And the answer.' })
    expect(ends(agent).at(-1)).toEqual(['t2', 'completed'])
    expect(texts(agent)).toEqual(['Hello.', 'And the answer.'])
    agent.sentNow()
    agent.start('last', { turn: 't3' })
    expect(agent.sentNow()).toMatchObject([{ type: 'user' }])
  })

  test('goes on when the prompt is withdrawn', () => {
    const agent = ahead()
    const [prompt] = uuids(agent.sentNow())
    cancel(agent)
    expect(requests(agent.sentNow())).toEqual([['cancel_async_message', prompt]])
    agent.answer('cancel_async_message', { cancelled: true })
    agent.reports('cancelled', prompt)
    say(agent, 'The build is green.')
    agent.result()
    expect(ends(agent).at(-1)).toEqual(['t2', 'cancelled'])
    expect(unasked(agent)).toEqual(['The build is green.'])
    expect(agent.sentNow()).toEqual([])
  })

  test.each([
    ['its fate comes first', (agent: Claude) => agent.reports('cancelled')],
    ['its process ends', (agent: Claude) => agent.link.decodeEnd({ why: 'closed', exitCode: 1 })],
  ])('is not interrupted when a withdrawn prompt is over: %s', (_how, over) => {
    const agent = ahead()
    cancel(agent)
    over(agent)
    agent.sentNow()
    agent.answer('cancel_async_message', { cancelled: true })
    expect(ends(agent).slice(1)).toEqual([['t2', 'cancelled']])
    expect(agent.sentNow()).toEqual([])
  })

  test.each([
    ['taken up meanwhile', (agent: Claude) => agent.answer('cancel_async_message', { cancelled: false })],
    ['not to be withdrawn', (agent: Claude) => agent.refuse('cancel_async_message', 'Unsupported')],
  ])('is interrupted with a prompt that is %s', (_why, reply) => {
    const agent = ahead()
    cancel(agent)
    agent.sentNow()
    reply(agent)
    expect(requests(agent.sentNow())).toEqual([['interrupt', undefined]])
    agent.reports('started')
    agent.result({ terminal_reason: 'aborted_streaming' })
    expect(ends(agent).at(-1)).toEqual(['t2', 'cancelled'])
  })
})

describe('a prompt', () => {
  test.each(['completed', 'cancelled', 'discarded', 'refused'])(
    'that is %s but was never begun fails its turn',
    (state) => {
      const agent = ahead()
      agent.reports(state)
      expect(agent.of('turn-end').at(-1)).toMatchObject({
        turn: 't2',
        outcome: 'failed',
        fault: { code: 'agent-unavailable', message: 'The agent did not take the message up.', retryable: false },
      })
    },
  )

  test('is that of its turn whatever is said of other messages', () => {
    const agent = telling()
    agent.reports('cancelled', 'another')
    agent.reports('paused')
    agent.line({ type: 'command_lifecycle', command_uuid: 7, state: 'cancelled' })
    agent.line({ type: 'command_lifecycle' })
    agent.result({ result: 'Done.' })
    expect(ends(agent)).toEqual([['t1', 'completed']])
    expect(agent.losses).toEqual([])
    agent.reports('completed')
    expect(agent.of('foreign')).toEqual([])
  })
})
