import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { capabilities, type SessionRecord, type Store } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { MOVED } from '../../src/engine/common/faults.ts'
import { type ControlCommand, OwnControls } from '../../src/engine/dispatch/own-controls.ts'
import { BUSY, SessionChanges } from '../../src/engine/dispatch/session-changes.ts'
import type { LinkEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, PlainHost, plainAgent } from '../kit/plain.ts'

const KEY = { tenant: 'ann', agent: 'plain', session: 's', conversation: '' }
const agent = plainAgent('', {}, { able: capabilities({ full: ['turn-start'] }) })

let store: Store
let record: SessionRecord
let parts: ReturnType<typeof engineParts>
beforeEach(async () => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  parts = engineParts(store, settingsOf([agent]))
  record = await store.openSession(KEY, 'kept', 3)
})
afterEach(() => store.close())

/** A session in memory that notes what is done with it. */
function liveSession(busy: boolean) {
  const done: string[] = []
  const live = { record, busy, close: () => void done.push('close'), renew: () => void done.push('renew') }
  return { live: live as never, done }
}

/** The reply to a command: its fault, its data or `done`. */
async function serve(
  command: ControlCommand,
  { live, known = true, admin = false }: { live?: never; known?: boolean; admin?: boolean } = {},
): Promise<unknown> {
  const { sessions, turns, watches } = parts
  const controls = new OwnControls({ store, sessions, turns, watches } as never, new SessionChanges(store))
  const host = new PlainHost()
  const exchange = new Exchange(command, ANSWER, host)
  const context = { settings: settingsOf([agent]), agent, tenant: 'ann', admin, at: 9 }
  await controls.serve(command, context, { record: known ? record : undefined, live }, exchange)
  const [reply] = host.replies as (LinkEvent & { type: 'command-reply' })[]
  if (!reply) return 'nothing'
  return reply.fault ?? (reply.data === undefined ? 'done' : JSON.parse(reply.data))
}

describe('a session that the gateway serves alone', () => {
  test.each([
    [true, []],
    [false, ['close']],
  ])('and that has a turn (%s) is closed so: %j', async (busy, done) => {
    const session = liveSession(busy)
    expect(await serve({ exchange: 'x', type: 'session-close' }, { live: session.live })).toBe('done')
    expect(session.done).toEqual(done)
  })

  test('is closed when it is not in memory', async () => {
    expect(await serve({ exchange: 'x', type: 'session-close' })).toBe('done')
  })

  test('begins again when it is cleared', async () => {
    const session = liveSession(false)
    expect(await serve({ exchange: 'x', type: 'session-clear' }, { live: session.live })).toBe('done')
    expect([session.done, (await store.readSession('kept'))?.epoch]).toEqual([['renew'], 9])
  })

  test('is not deleted while a turn of it runs, here or elsewhere', async () => {
    const remove = { exchange: 'x', type: 'session-delete', id: 'kept' } as const
    parts.live.get = () => liveSession(true).live
    expect(await serve(remove)).toEqual(BUSY)
    parts.live.get = () => undefined
    const about = { session: 'kept', tenant: 'ann', agent: 'plain', front: 'acp', owner: 'o', epoch: 1 }
    await store.beginTurn({ ...about, turn: 't', startedAt: 4, delivered: false })
    expect(await serve(remove)).toEqual(BUSY)
    expect(await store.readSession('kept')).toBeDefined()
  })

  test('is deleted with its process', async () => {
    const session = liveSession(false)
    parts.live.get = () => session.live
    expect(await serve({ exchange: 'x', type: 'session-delete', id: 'kept' })).toBe('done')
    expect([session.done, await store.readSession('kept')]).toEqual([['close'], undefined])
  })

  test('of another tenant, or of nobody, is not deleted', async () => {
    await store.openSession({ ...KEY, tenant: 'bob' }, 'theirs', 3)
    for (const id of ['theirs', 'none']) {
      const fault = await serve({ exchange: 'x', type: 'session-delete', id })
      expect(fault).toMatchObject({ code: 'session-not-found', message: 'There is no such session.' })
    }
    expect(await store.readSession('theirs')).toBeDefined()
  })

  test('that another process has taken is not deleted', async () => {
    store.deleteSession = async () => false
    expect(await serve({ exchange: 'x', type: 'session-delete', id: 'kept' })).toEqual(MOVED)
  })
})

test('what the agent would have to do has no place', async () => {
  expect(await serve({ exchange: 'x', type: 'session-open' })).toMatchObject({
    code: 'invalid-request',
    message: 'The agent "plain" has no place for "session-open".',
  })
  expect(await serve({ exchange: 'x', type: 'config-set', mode: 'plan', session: { id: 's' } })).toMatchObject({
    code: 'invalid-request',
    message: 'The agent "plain" cannot be set to this.',
  })
})

describe('a question', () => {
  const query = (what: 'health' | 'turns' | 'sessions', args?: object): ControlCommand => ({
    exchange: 'x',
    type: 'query',
    what,
    ...(args && { args: JSON.stringify(args) }),
  })

  test('is answered, or refused', async () => {
    expect(await serve(query('health'))).toEqual({ ok: true })
    expect(await serve(query('turns', { limit: 0 }))).toMatchObject({ code: 'invalid-request' })
    expect(await serve(query('sessions'))).toMatchObject({ sessions: [{ id: 'kept' }] })
  })

  test('that follows the turns stays open, and has a watch of its own', async () => {
    expect(await serve(query('turns', { follow: true }))).toEqual({ turns: [] })
    expect([parts.watches.added, parts.watches.any]).toEqual([1, true])
  })

  test('that follows the turns is refused when too many do', async () => {
    for (let count = 0; count < 64; count += 1) await serve(query('turns', { follow: true }))
    expect(await serve(query('turns', { follow: true }))).toMatchObject({ code: 'overloaded' })
  })

  test('that follows the turns of all is for an operator', async () => {
    const scopes: unknown[] = []
    const add = parts.watches.add.bind(parts.watches)
    parts.watches.add = (exchange, scope, args) => {
      scopes.push(scope)
      return add(exchange, scope, args)
    }
    await serve(query('turns', { follow: true, all: true }))
    await serve(query('turns', { follow: true, all: true }), { admin: true })
    await serve(query('turns', { follow: true, all: true, key: 'bob' }), { admin: true })
    await serve(query('turns', { follow: true, key: 'bob' }))
    expect(scopes).toEqual([{ tenant: 'ann' }, {}, { tenant: 'bob' }, 'none'])
  })
})
