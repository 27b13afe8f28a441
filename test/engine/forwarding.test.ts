import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Replica, SessionRecord, SharedStore } from '../../src/contract/index.ts'
import type { ClientLink } from '../../src/engine/client/client-link.ts'
import { type AgentSettings, AWAY, DRAINING, type HandOver, STALE, UNWRITABLE } from '../../src/engine/common/index.ts'
import { sessionKey } from '../../src/engine/dispatch/entry.ts'
import { Forwarding, isRepeatable } from '../../src/engine/dispatch/forwarding.ts'
import type { Lease } from '../../src/engine/record/lease.ts'
import { Replicas } from '../../src/engine/record/replicas.ts'
import type { Sessions } from '../../src/engine/session/sessions.ts'
import type { Command } from '../../src/model/index.ts'
import { engineParts, entryFor, settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, start } from '../kit/plain.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { leaseOf, openShared } from '../kit/shared-store.ts'
import { TURN } from '../store/contract.ts'

const PLAIN = plainAgent('')
const ELSEWHERE: AgentSettings = { ...plainAgent(''), name: 'away', away: true }

describe.skipIf(POSTGRES_BIN === undefined)('forwarding', () => {
  let server: PostgresServer
  let store: SharedStore
  let lease: Lease
  let other: Lease
  let replicas: Replicas
  let others: Replicas
  let forwarding: Forwarding
  let sessions: Sessions
  /** Where clients were sent, and what others were asked for. */
  let sent: string[]
  /** What another replica does when it is asked for a session. */
  let leaseMs: number
  let handOver: (session: string) => Promise<HandOver>

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    sent = []
    leaseMs = 8000
    handOver = async () => 'kept'
    store = await openShared(server)
    ;[lease, other] = [await leaseOf(store, 'self', Date.now), await leaseOf(store, 'other', Date.now)]
    replicas = new Replicas({ store, lease, gone() {}, now: Date.now })
    others = new Replicas({ store, lease: other, gone() {}, now: Date.now })
    await announce({ plain: 1, away: 3 })
    const settings = settingsOf([PLAIN, ELSEWHERE])
    const { turns, ...parts } = engineParts(store, settings)
    sessions = parts.sessions
    const cluster = {
      get leaseMs() {
        return leaseMs
      },
      handOver: (_: Replica, id: string) => handOver(id),
      gone() {},
      check: async () => undefined,
    }
    forwarding = new Forwarding({ store, replicas, cluster, turns, sessions, settings: { current: settings } }, 2)
  })
  afterEach(async () => {
    await lease.drop()
    await other.drop()
    await store.close()
  })

  const announce = async (agents: Record<string, number>, draining = false): Promise<void> => {
    await others.join(() => ({ address: 'http://other', version: '1', agents, draining }))
    others.close()
    await replicas.refresh()
  }
  /** A client whose wire may leave, or may not any more. */
  const client = (mayLeave = true, forwarded = false): ClientLink =>
    ({
      options: { access: { tenant: 'local' }, front: entryFor(PLAIN).entry.client.options.front },
      mayLeave,
      forwarded,
      settle: () => void sent.push('settled'),
      leaveFor({ owner }: Replica, repeatable: boolean) {
        sent.push(`to ${owner} ${repeatable}`)
        return true
      },
    }) as unknown as ClientLink
  const request = (agent = PLAIN, of = client()) => ({
    ...entryFor(agent, { command: start({ session: { id: 's' } }) }).entry,
    client: of,
  })
  const place = (entry = request()) => forwarding.place(entry, sessionKey(entry, entry.agent))
  const bring = (entry = request()) => forwarding.bring(entry, sessionKey(entry, entry.agent))
  const KEY = { tenant: 'local', agent: 'plain', session: 's', conversation: '' }

  test('takes a session that is nobody’s', async () => {
    expect(await place()).toMatchObject({ session: 's', owner: lease.held })
  })

  test('reads no session that is its own and in memory, unless that is stale', async () => {
    const { id, ...record } = (await place()) as SessionRecord
    const live = sessions.open({ id, ...record }, PLAIN, undefined)
    expect(await place()).toBe(live.record)
    live.asOf = STALE
    const read = (await place()) as SessionRecord
    expect(read).not.toBe(live.record)
    sessions.open(read, PLAIN, undefined)
    expect(await place()).toBe(live.record)
    expect(await forwarding.giveUp(id)).toBe(true)
    await others.take(KEY)
    expect(await place()).toMatchObject({ owner: 'other' })
  })

  test('finds the replica that has the session', async () => {
    await others.take(KEY)
    expect(await place()).toMatchObject({ owner: 'other', address: 'http://other' })
  })

  test('remembers who has a session, until somebody has not or stops', async () => {
    const record = await others.take(KEY)
    expect(await place()).toMatchObject({ owner: 'other' })
    await others.giveUp(record.id)
    expect(await place()).toMatchObject({ owner: 'other' })
    forwarding.forget()
    expect(await place()).toMatchObject({ id: record.id, owner: lease.held })
    await replicas.giveUp(record.id)
    await others.take(KEY)
    await place()
    await others.giveUp(record.id)
    await announce({ plain: 1 }, true)
    expect(await place()).toMatchObject({ id: record.id, owner: lease.held })
  })

  test('remembers a bounded number of them', async () => {
    const keys = ['a', 'b', 'c'].map((session) => ({ ...KEY, session }))
    const ids: string[] = []
    for (const key of keys) {
      ids.push((await others.take(key)).id)
      await forwarding.place(request(), key)
    }
    for (const id of ids) await others.giveUp(id)
    const owners: unknown[] = []
    for (const key of keys) owners.push(((await forwarding.place(request(), key)) as Replica).owner)
    expect(owners).toEqual([lease.held, lease.held, 'other'])
  })

  test.each([
    ['came from another replica', true, true],
    ['cannot leave', false, false],
  ])('looks up the session of a request that %s', async (_, mayLeave, forwarded) => {
    const record = await others.take(KEY)
    await place()
    await others.giveUp(record.id)
    expect(await place(request(PLAIN, client(mayLeave, forwarded)))).toMatchObject({ id: record.id, owner: lease.held })
  })

  test('finds nobody who can be asked when a process has it that announces nothing', async () => {
    const silent = await leaseOf(store, 'silent', Date.now)
    await new Replicas({ store, lease: silent, gone() {}, now: Date.now }).take(KEY)
    expect(await place()).toBeUndefined()
    await silent.drop()
    expect(await bring()).toMatchObject({ owner: lease.held })
  })

  test('sends what only others can run where there is room', async () => {
    expect(await place(request(ELSEWHERE))).toMatchObject({ owner: 'other' })
    await announce({ away: 0 })
    expect(await place(request(ELSEWHERE))).toMatchObject({ owner: 'other' })
    await announce({})
    const message = 'No replica that can take this request has the agent "away"; try again later.'
    const none = { code: 'agent-unavailable', message }
    expect(await place(request(ELSEWHERE))).toMatchObject(none)
    expect(await bring(request(ELSEWHERE))).toMatchObject(none)
  })

  test('gives up a session whose agent it is not to run any more, when another one does and no turn runs', async () => {
    const away: AgentSettings = { ...PLAIN, away: true }
    await announce({})
    const record = (await place()) as SessionRecord
    const live = sessions.open(record, PLAIN, undefined)
    const message = 'No replica that can take this request has the agent "plain"; try again later.'
    expect(await place(request(away))).toMatchObject({ code: 'agent-unavailable', message })
    expect(await place()).toBe(live.record)
    await announce({ plain: 1 })
    const running = { ...TURN, session: record.id, ...lease.held! }
    await store.beginTurn(running)
    expect(await place(request(away))).toMatchObject({ id: record.id, owner: lease.held })
    await store.endTurn({ ...running, endedAt: 2, outcome: 'completed' })
    expect(await place(request(away))).toMatchObject({ owner: 'other' })
    expect(await others.take(KEY)).toMatchObject({ id: record.id, owner: other.held })
  })

  test('takes nothing new while it drains, and gives up what it has', async () => {
    forwarding.draining = true
    expect(await place()).toBe(DRAINING)
    expect(await bring()).toBe(DRAINING)
    await others.take(KEY)
    expect(await place()).toMatchObject({ owner: 'other' })
    const own = { ...KEY, session: 'own' }
    const { id } = (await replicas.take(own)) as SessionRecord
    const entry = { ...request(), command: start({ session: { id: 'own' } }) }
    expect(await forwarding.place(entry, own)).toMatchObject({ owner: 'other' })
    expect((await store.readSession(id))?.owner).toBeUndefined()
    await announce({}, true)
    await replicas.take(own)
    expect(await forwarding.place(entry, own)).toBe(DRAINING)
  })

  test('gives up no session in which a turn is recorded as running', async () => {
    const { id } = await replicas.take(KEY)
    await store.beginTurn({ ...TURN, ...lease.held!, session: id })
    forwarding.draining = true
    expect(await place()).toBe(DRAINING)
    expect(await forwarding.giveUp(id)).toBe(false)
  })

  test('takes nothing when its lease may end', async () => {
    const [late, close] = [await leaseOf(store, 'late', Date.now), replicas]
    Object.defineProperty(late, 'safe', { value: false })
    Object.defineProperty(close, 'safe', { value: false })
    expect(await place()).toBe(UNWRITABLE)
    await late.drop()
  })

  test('brings a session here when the request cannot be sent there', async () => {
    const { id } = await others.take(KEY)
    const asked: string[] = []
    handOver = async (session) => {
      asked.push(session)
      return asked.length > 1 && (await others.giveUp(session)) ? 'given' : 'kept'
    }
    expect(await bring()).toMatchObject({ id, owner: lease.held })
    expect([asked, sent]).toEqual([[id, id], ['settled']])
  })

  test('gives that up when nobody waits any more, or the time is over', async () => {
    await others.take(KEY)
    const unwanted = request()
    unwanted.exchange.cancel()
    expect(await bring(unwanted)).toMatchObject({ code: 'cancelled' })
    const brief = { ...request(), command: start({ session: { id: 's' }, options: { totalMs: 0 } }) }
    expect(await bring(brief)).toMatchObject({ code: 'session-busy' })
  })

  test('waits for a replica that runs a turn, but not for long for one that cannot be reached', async () => {
    await others.take(KEY)
    leaseMs = -2000
    const answers: HandOver[] = ['kept', 'kept', 'unreached']
    handOver = async () => answers.shift()!
    expect(await bring()).toBe(AWAY)
    expect(answers).toEqual([])
  })

  const at = (command: Partial<Command>): Command => ({ exchange: 'x', ...command }) as Command
  const turn = { ...TURN, tenant: 'local', request: 'r' }
  const runs = async (by: Lease): Promise<void> => {
    const { id } = await others.take(KEY)
    await store.beginTurn({ ...turn, ...by.held!, session: id })
  }

  test.each([
    [{ turn: 't1' }, true],
    [{ request: 'r' }, true],
    [{ continuation: 't1.p' }, true],
    [{ turn: 'other' }, false],
    ['running', false],
  ] as const)('sends a command about the turn %j on to its replica: %s', async (target, does) => {
    await runs(other)
    const command = at({ type: 'turn-cancel', target })
    expect(await forwarding.ofTurn(client(), command, target)).toBe(does)
    expect(sent).toEqual(does ? ['to other true'] : [])
  })

  test('answers here for turns that are over, of others, or of nobody who is there', async () => {
    await runs(other)
    const target = { turn: 't1' }
    const command = at({ type: 'turn-follow', target })
    const stranger = { ...client(), options: { access: { tenant: 'stranger' } } } as unknown as ClientLink
    expect(await forwarding.ofTurn(stranger, command, target)).toBe(false)
    await other.drop()
    await replicas.refresh()
    expect(await forwarding.ofTurn(client(), command, target)).toBe(false)
    await store.endTurn({ ...turn, ...TURN, endedAt: 200, outcome: 'completed' })
    expect(await forwarding.ofTurn(client(), command, target)).toBe(false)
  })

  test('sends commands without a turn on to the replica of their session, turn or agent', async () => {
    await runs(other)
    const session = { id: 's' }
    expect(await forwarding.ofControl(client(), at({ type: 'session-clear', session }), PLAIN)).toBe(true)
    expect(
      await forwarding.ofControl(client(), at({ type: 'query', what: 'turn', args: '{"turn":"t1"}' }), PLAIN),
    ).toBe(true)
    const { id } = (await store.findSession(KEY))!
    expect(await forwarding.ofControl(client(), at({ type: 'session-delete', id }), PLAIN)).toBe(true)
    expect(await forwarding.ofControl(client(), at({ type: 'query', what: 'models' }), ELSEWHERE)).toBe(true)
    expect(sent).toHaveLength(4)
    expect(await forwarding.ofControl(client(), at({ type: 'query', what: 'turns' }), PLAIN)).toBe(false)
    expect(await forwarding.ofControl(client(), at({ type: 'query', what: 'turn', args: '7' }), PLAIN)).toBe(false)
  })

  test('sends a request on whose key another turn holds', async () => {
    const record = { ...turn, ...other.held! }
    expect(await forwarding.ofHolder(client(), record, start())).toBe(true)
    expect(sent).toEqual(['to other false'])
    expect(isRepeatable(start({ once: { key: 'k', duplicate: 'join', replay: 'success' } }))).toBe(true)
  })

  test('tells what it has room for', () => {
    expect(forwarding.room()).toEqual({ plain: PLAIN.pool.max })
  })
})
