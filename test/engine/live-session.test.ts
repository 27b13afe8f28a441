import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { SessionRecord } from '../../src/contract/index.ts'
import { AgentPool } from '../../src/engine/agent/agent-pool.ts'
import { Replies } from '../../src/engine/agent/replies.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import type { OtherProcesses } from '../../src/engine/session/absence.ts'
import { LiveSession, type SessionPeers } from '../../src/engine/session/live-session.ts'
import type { Message, TurnEvent } from '../../src/model/index.ts'
import { DONE, notingLog, type PlainBack, PlainHost, plainAgent, plainTurn, say, serving, start } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

/** An agent that says what it was given, then ends the turn. */
const ECHO = serving(
  `said=$(echo "$line" | tr -d '"\\\\{}'); ${say({ turn: 't', type: 'notice', severity: 'info', code: 'given', text: 'SAID' }).replace('SAID', `'"$said"'`)}; ${DONE}`,
)
const HISTORY: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'before' }] }]

/** A session of an agent; `used` says that it had turns before. */
function session(script: string, back: PlainBack = {}, more: Partial<AgentSettings> = {}, used = false) {
  const heard: unknown[][] = []
  const others: { over: Awaited<ReturnType<OtherProcesses['over']>> } = { over: undefined }
  const { promise: expired, resolve: expire } = Promise.withResolvers<void>()
  const peers: SessionPeers = {
    recorder: {
      bind: ({ bound }) => void heard.push(['bound', bound]),
      transcript: async () => HISTORY,
      origin: async () => undefined,
      copied() {},
      unasked: (_session, text) => void heard.push(['unasked', text]),
    },
    sessions: { delete: () => expire(), mayLeave() {}, stays() {} },
    replies: new Replies(),
    log: notingLog((message, fields) => void heard.push([message, fields])),
    elsewhere: { have: ({ owner }) => owner !== 'here', over: async () => others.over },
    now: () => 9,
  }
  const record: SessionRecord = {
    id: 'kept',
    tenant: 'local',
    agent: 'plain',
    session: 's',
    conversation: '',
    createdAt: 1,
    usedAt: 1,
  }
  const pool = new AgentPool(plainAgent(script, more, back), () => false)
  const live = new LiveSession(record, pool, used ? {} : undefined, peers)
  /** Gives it a turn; the events of its client once that has its end. */
  const turn = (): { ended: Promise<TurnEvent[]>; of: ReturnType<typeof plainTurn>['turn'] } => {
    const host = new PlainHost()
    const { promise, resolve } = Promise.withResolvers<TurnEvent[]>()
    const { turn: of } = plainTurn({
      agent: pool.agent,
      host,
      command: start(),
      session: live,
      recorder: { end: () => resolve(host.events) },
    })
    live.enqueue(of)
    live.ready(of)
    return { ended: promise, of }
  }
  return { live, pool, turn, heard, expired, others }
}

const given = (events: readonly TurnEvent[]): string =>
  events.map((event) => (event.type === 'notice' && event.code === 'given' ? event.text : '')).join('')
const codes = (events: readonly TurnEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'notice' ? [event.code] : event.type === 'turn-end' ? [event.outcome] : []))

describe('the turns of a session', () => {
  test('run one after the other, in the order in which they came', async () => {
    const { live, turn, pool } = session(serving(DONE), { persistent: true })
    const order: number[] = []
    const turns = [turn(), turn(), turn()]
    expect([live.busy, live.occupied, live.running]).toEqual([true, true, turns[0]!.of])
    await Promise.all(turns.map(({ ended }, at) => ended.then(() => order.push(at))))
    expect(order).toEqual([0, 1, 2])
    expect(live.busy).toBe(false)
    await pool.close(50)
  })

  test.each([
    [0, 'A turn of this session runs; try again when it is done.'],
    [1, 'A turn waits for this session already; try again later.'],
    [2, '2 turns wait for this session already; try again later.'],
  ])('that may wait are %i', async (limit, message) => {
    const { live, turn, pool } = session(serving(DONE), { persistent: true })
    const turns = [turn()]
    for (let more = 0; more < limit; more += 1) {
      expect(live.refusal(limit)).toBeUndefined()
      turns.push(turn())
    }
    expect(live.refusal(limit)).toMatchObject({ code: 'session-busy', message })
    await Promise.all(turns.map(({ ended }) => ended))
    expect(live.refusal(limit)).toBeUndefined()
    await pool.close(50)
  })

  test('that are cancelled while they wait never run', async () => {
    const { live, turn, pool } = session(serving(DONE), { persistent: true })
    const first = turn()
    const second = turn()
    second.of.cancel()
    expect(codes(await second.ended)).toEqual(['cancelled'])
    expect(codes(await first.ended)).toEqual(['completed'])
    expect(live.busy).toBe(false)
    await pool.close(50)
  })

  test('share a process that lives over turns', async () => {
    const { live, turn, pool } = session(serving(DONE), { persistent: true })
    await turn().ended
    const { link } = live
    expect(codes(await turn().ended)).toEqual(['completed'])
    expect(live.link).toBe(link)
    expect(live.memory.used).toBe(true)
    await pool.close(50)
  })

  test('of one process a turn give back its place', async () => {
    const { turn } = session(`read -r line; ${DONE}`)
    expect(codes(await turn().ended)).toEqual(['completed'])
    expect(codes(await turn().ended)).toEqual(['completed'])
  })
})

describe('a process that is gone before the gateway has seen that', () => {
  /** Has the process die, and keeps the gateway from seeing it. */
  function kill({ live }: ReturnType<typeof session>): number {
    const { pid } = live.link!.process!
    process.kill(pid!, 'SIGKILL')
    while (!/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    return pid!
  }

  test.skipIf(process.platform !== 'linux')('is replaced by another, once for a turn (Linux)', async () => {
    const it = session(ECHO, { persistent: true }, { restore: 'replay' })
    await it.turn().ended
    const gone = kill(it)
    const events = await it.turn().ended
    expect(codes(events)).toEqual(['session-reset', 'given', 'completed'])
    expect(given(events)).toContain('text:before')
    expect(it.live.link!.process!.pid).not.toBe(gone)
    expect(it.live.memory.used).toBe(true)
    await it.pool.close(50)
  })

  test.skipIf(process.platform !== 'linux')('is no other agent’s business (Linux)', async () => {
    const it = session(serving(DONE), { persistent: true })
    await it.turn().ended
    kill(it)
    const { of, ended } = it.turn()
    of.cancel()
    expect(codes(await ended)).toEqual(['cancelled'])
    await it.pool.close(50)
  })

  /** A session with an agent whose calls the test plays, which has had a turn. */
  async function played() {
    const backend = new ScriptedBackend()
    const it = session('', { persistent: true }, { backend })
    const say = (event: object): void => backend.call.say(`${JSON.stringify({ turn: 't', ...event })}\n`)
    const first = it.turn()
    await settled()
    say({ turn: null, type: 'agent-ready' })
    say({ type: 'turn-end', outcome: 'completed' })
    await first.ended
    await settled()
    return { ...it, backend, say }
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const GONE = { why: 'closed', exitCode: 1, unread: true } as const

  test('is replaced once, even if the next one goes the same way', async () => {
    const { turn, backend, say } = await played()
    const { ended } = turn()
    await settled()
    backend.call.end(GONE)
    await settled()
    expect(backend.calls).toHaveLength(2)
    say({ turn: null, type: 'agent-ready' })
    backend.call.end(GONE)
    expect(codes(await ended)).toEqual(['session-reset', 'failed'])
    expect(backend.calls).toHaveLength(2)
  })

  test.each([
    ['it has read the turn', [], { why: 'closed', exitCode: 1 }, 'agent-crashed'],
    ['it has said something', [{ type: 'turn-started' }], GONE, 'agent-crashed'],
    ['it was told something more', 'steer', GONE, 'agent-crashed'],
  ] as const)('is not when %s', async (_when, said, end, code) => {
    const { turn, backend, say } = await played()
    const { ended, of } = turn()
    await settled()
    if (said === 'steer') of.tellAgent({ exchange: 'x', input: [] })
    else for (const event of said) say(event)
    backend.call.end(end)
    expect((await ended).at(-1)).toMatchObject({ outcome: 'failed', fault: { code } })
    expect(backend.calls).toHaveLength(1)
  })
})

describe('a session that its agent has lost', () => {
  const lost = (restore: AgentSettings['restore'], back: PlainBack = {}) =>
    session(ECHO, { persistent: true, ...back }, { restore }, true)

  test('begins anew, and says so', async () => {
    const { turn, pool } = lost('fresh')
    const events = await turn().ended
    expect(codes(events)).toEqual(['session-reset', 'given', 'completed'])
    expect(events[0]).toMatchObject({ text: 'The process of this session was gone: the agent starts a new session.' })
    expect(given(events)).not.toContain('before')
    await pool.close(50)
  })

  test('is told what was said', async () => {
    const { turn, pool } = lost('replay')
    const events = await turn().ended
    expect(events[0]).toMatchObject({
      text: 'The process of this session was gone: the agent gets the conversation so far.',
    })
    expect(given(events)).toContain('text:before')
    await pool.close(50)
  })

  test('is refused where that is so wished', async () => {
    const { live, turn, pool } = lost('fail')
    const events = await turn().ended
    expect(events.at(-1)).toMatchObject({
      fault: { code: 'session-not-found', message: 'The process of this session is gone; begin a new session.' },
    })
    expect(live.link).toBeUndefined()
    await pool.close(50)
  })

  test.each(['named', 'bound', 'resumed'] as const)(
    'is none where its agent has it under an id: %s',
    async (memory) => {
      const { live, turn, pool } = lost('fresh', { memory })
      live.record.bound = 'its id'
      const events = await turn().ended
      expect(codes(events)).toEqual(['given', 'completed'])
      expect(given(events)).toContain('bound:its id')
      await pool.close(50)
    },
  )
})

test('a session that was cleared has another name towards its agent, and no process', async () => {
  const { live, turn, pool } = session(serving(DONE), { persistent: true })
  await turn().ended
  expect(live.names).toEqual({ id: 's' })
  live.record.bound = 'its id'
  live.renew(7)
  expect([live.memory.used, live.record.bound, live.record.epoch, live.link]).toEqual([false, undefined, 7, undefined])
  expect(live.names.id).toMatch(/^tp-[0-9a-f]{64}$/)
  await pool.close(50)
})

test('what another process has changed in the record is taken over', () => {
  const { live } = session('')
  live.adopt({ ...live.record, settings: { model: 'm' }, epoch: 3 })
  expect([live.record.settings, live.record.epoch]).toEqual([{ model: 'm' }, 3])
  live.adopt({ ...live.record, epoch: 2 })
  expect(live.record.epoch).toBe(3)
})

describe('a session that another process has had since', () => {
  const last = { turn: 'theirs', owner: 'there', ended: true }
  const away = (more: Partial<AgentSettings> = {}) => {
    const of = session(ECHO, { persistent: true }, more)
    of.others.over = { record: { ...of.live.record, bound: 'its new id', epoch: 4 }, heard: {} }
    return of
  }

  test('gives up its process, and says that its agent has not heard what was said there', async () => {
    const { live, turn, pool } = away()
    await turn().ended
    const { link } = live
    live.adopt({ ...live.record, last })
    expect(live.link).toBeUndefined()
    const events = await turn().ended
    expect(codes(events)).toEqual(['session-reset', 'given', 'completed'])
    expect(events[0]).toMatchObject({
      text: 'The session had gone on in another process of the gateway: the agent starts a new session.',
    })
    expect([live.record.bound, live.record.epoch, link?.dead]).toEqual(['its new id', 4, true])
    // It is the same turn that it has come back from.
    live.adopt({ ...live.record, last })
    expect(codes(await turn().ended)).toEqual(['given', 'completed'])
    await pool.close(50)
  })

  test('is told what was said, or refused, as after the end of its process', async () => {
    const replayed = away({ restore: 'replay' })
    await replayed.turn().ended
    replayed.live.adopt({ ...replayed.live.record, last })
    expect(given(await replayed.turn().ended)).toContain('text:before')
    const refused = away({ restore: 'fail' })
    await refused.turn().ended
    refused.live.adopt({ ...refused.live.record, last })
    const message = 'The session has gone on in another process of the gateway; begin a new session.'
    expect((await refused.turn().ended).at(-1)).toMatchObject({ fault: { code: 'session-not-found', message } })
    await Promise.all([replayed.pool.close(50), refused.pool.close(50)])
  })

  test('counts the turn that runs there, until it has come back', async () => {
    const { live, turn, pool } = away()
    live.adopt({ ...live.record, last: { ...last, ended: false } })
    expect(live.refusal(0)).toMatchObject({ code: 'session-busy' })
    expect(live.refusal(1)).toBeUndefined()
    await turn().ended
    expect(live.refusal(0)).toBeUndefined()
    await pool.close(50)
  })

  test('stays away when the turn that waits for it is cancelled', async () => {
    const { live, turn, pool, others } = away()
    await turn().ended
    live.adopt({ ...live.record, last })
    const back = others.over
    others.over = undefined
    const { ended, of } = turn()
    of.cancel()
    expect(codes(await ended)).toEqual(['cancelled'])
    expect(live.link).toBeUndefined()
    others.over = back
    expect(codes(await turn().ended)).toEqual(['session-reset', 'given', 'completed'])
    await pool.close(50)
  })

  test('has turns of this process alone in its line', async () => {
    const { live, turn, pool } = session(serving(DONE), { persistent: true })
    await turn().ended
    const { link } = live
    live.adopt({ ...live.record, last: { ...last, owner: 'here' } })
    expect(live.link).toBe(link)
    await pool.close(50)
  })
})

test('a session without work is given up after the idle time of its agent', async () => {
  const { turn, expired, pool } = session(serving(DONE), { persistent: true }, { pool: { warm: 0, max: 1, idle: 1 } })
  await turn().ended
  await expired
  await pool.close(50)
})

test('a session of a retired pool is given up when its turn is done', async () => {
  const { turn, expired, pool } = session(serving(DONE), { persistent: true })
  const { ended } = turn()
  pool.retire()
  await ended
  await expired
  await pool.close(50)
})

test('how a process failed is for the log', async () => {
  const { turn, heard, live } = session('exit 5', { persistent: true })
  expect(codes(await turn().ended)).toEqual(['failed'])
  expect(heard).toContainEqual(['an agent failed', expect.objectContaining({ exitCode: 5, session: 'kept' })])
  expect(live.link).toBeUndefined()
})
