import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Route, Store } from '../../src/contract/index.ts'
import { Failover } from '../../src/engine/dispatch/failover.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { DONE, notingLog, plainAgent, plainTurn, say } from '../kit/plain.ts'

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

/** An agent that says what it was given. */
const ECHO = `read -r line; said=$(echo "$line" | tr -d '"\\\\{}'); ${say({ turn: 't', type: 'notice', severity: 'info', code: 'given', text: 'SAID' }).replace('SAID', `'"$said"'`)}; ${DONE}`

/** A turn that waits in the session of the agent `a` and is to be moved to `b`. */
async function waiting(route: Partial<Route> = {}) {
  const [a, b] = ['a', 'b'].map((name) => plainAgent(ECHO, { name }))
  const logged: string[] = []
  const log = notingLog((message) => void logged.push(message))
  const parts = engineParts(store, settingsOf([a!, b!]), { log })
  const { opener, recorder, turns, breakers, sessions } = parts
  const failover = new Failover({ recorder, opener, log, now: () => 9 })
  const key = { tenant: 'local', agent: 'a', session: 's', conversation: '' }
  const session = sessions.open(await opener.record(key, 1), a!, undefined)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const peers = { recorder, turns, breakers }
  const { turn, host } = plainTurn({ agent: a!, session, route, peers })
  host.ended = () => resolve()
  turns.add(turn)
  session.enqueue(turn)
  await recorder.begin(turn, { tenant: 'local', front: 'plain', promised: true })
  turn.agent = b!
  const close = async (): Promise<void> => {
    await recorder.flush()
    await sessions.close(50)
  }
  return { ...parts, failover, turn, host, session, over, close, logged, b: b! }
}

describe('a turn whose agent could not be used', () => {
  test('leaves its line, and runs in that of the other agent, as its record says', async () => {
    const { failover, turn, session, over, close, recorder } = await waiting()
    failover.move(turn)
    expect(session.busy).toBe(false)
    await over
    await recorder.flush()
    const to = turn.session.record
    expect([to.agent, to.session, turn.view.end?.outcome]).toEqual(['b', 's', 'completed'])
    expect(await store.readTurn('t')).toMatchObject({ agent: 'b', session: to.id, outcome: 'completed' })
    await close()
  })

  test.each([
    ['before', ['given']],
    // The content of the turn before was not kept.
    [undefined, ['session-reset', 'given']],
  ])('brings what the first agent was told: %s', async (text, notices) => {
    const { failover, turn, session, over, close, recorder, host, live } = await waiting()
    const messages =
      text === undefined ? [] : [{ role: 'user' as const, parts: [{ type: 'text' as const, text }], at: 5 }]
    await store.endTurn(
      {
        turn: 'before',
        session: session.record.id,
        tenant: 'local',
        agent: 'a',
        front: 'plain',
        owner: 'o',
        epoch: 1,
        startedAt: 5,
        endedAt: 6,
        outcome: 'completed',
        delivered: true,
      },
      { messages },
    )
    session.memory.served(turn.agent)
    failover.move(turn)
    await over
    await recorder.flush()
    const to = turn.session.record
    expect(session.memory.detours).toEqual([to.id])
    while (live.get(to.id)!.memory.detours.length > 0) await new Promise((after) => setImmediate(after))
    const told = host.events.filter((event) => event.type === 'notice')
    expect(told.map(({ code }) => code)).toEqual(notices)
    expect(told.at(-1)!.text.includes('text:before')).toBe(text === 'before')
    await close()
  })

  test('that was cancelled meanwhile takes no place', async () => {
    const { failover, turn, live, over, close } = await waiting()
    failover.move(turn)
    turn.cancel()
    await over
    while ([...live.values()].length < 2) await new Promise((after) => setImmediate(after))
    await new Promise((after) => setImmediate(after))
    expect([...live.values()].map(({ busy, occupied }) => [busy, occupied])).toEqual([
      [false, false],
      [false, false],
    ])
    await close()
  })

  test('is refused where the other session is full', async () => {
    const { failover, turn, opener, sessions, b, over, close } = await waiting({ busy: 'reject' })
    const key = { tenant: 'local', agent: 'b', session: 's', conversation: '' }
    const full = sessions.open(await opener.record(key, 2), b, undefined)
    const { turn: first } = plainTurn({ agent: b, session: full })
    full.enqueue(first)
    failover.move(turn)
    await over
    expect(turn.view.end?.fault?.code).toBe('session-busy')
    expect(full.busy).toBe(true)
    first.cancel()
    await close()
  })

  test('ends when it cannot be moved', async () => {
    const { failover, turn, over, close, logged, live, opener } = await waiting()
    opener.openInstead = () => Promise.reject(new Error('full'))
    failover.move(turn)
    await over
    expect(turn.view.end?.fault?.code).toBe('internal')
    expect(logged).toContain('a turn could not be given to another agent')
    expect([...live.values()].map(({ busy }) => busy)).toEqual([false])
    await close()
  })
})
