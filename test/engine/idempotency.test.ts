import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Store, TurnRecord } from '../../src/contract/index.ts'
import { LOST } from '../../src/engine/common/faults.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import { Idempotency, type Keyed, keyOf, type Verdict } from '../../src/engine/record/idempotency.ts'
import { LAST_CALL_MS } from '../../src/engine/record/lease.ts'
import { recoverTurns } from '../../src/engine/record/recovery.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { Command, Once, TurnStart } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { plainTurn, start } from '../kit/plain.ts'
import { until } from '../kit/processes.ts'

/** The lease of a process that runs, and of one that is gone. */
const ALIVE = { owner: 'alive', epoch: 1_000_000 }
const GONE = { owner: 'gone', epoch: 1 }

describe('a request with a key', () => {
  let store: Store
  let now: number
  let idempotency: Idempotency
  let turns = 0

  beforeEach(async () => {
    now = 1_000_000
    store = openStore({ kind: 'sqlite', path: ':memory:' })
    await store.openSession({ tenant: 'local', agent: 'a', session: 's', conversation: '' }, 'session', now)
    await store.takeLease(ALIVE.owner, now, Number.MAX_SAFE_INTEGER)
    idempotency = new Idempotency(store, () => now, new LiveTurns())
  })
  afterEach(() => store.close())

  const UNDELIVERED: Once = { key: 'k', duplicate: 'join', replay: 'undelivered' }
  const asked = (once: Once, text = 'hi'): Command & TurnStart => {
    turns += 1
    const input = [{ type: 'text', text }] as const
    return { exchange: 'x', type: 'turn-start', turn: `t${turns}`, task: 'prompt', input, options: {}, once }
  }
  const keyed = (command: Command & TurnStart, scope = 'session', agent = 'a'): Keyed => ({ scope, agent, command })
  const claim = (command: Command & TurnStart, scope?: string, agent?: string): Promise<Verdict> =>
    idempotency.claim(keyed(command, scope, agent))
  /** A turn that another process has begun under the key. */
  const begun = async (once: Once, lease = ALIVE): Promise<string> => {
    const command = asked(once)
    expect(await claim(command)).toEqual({ do: 'run' })
    const { turn } = command
    const about = { session: 'session', tenant: 'local', agent: 'a', front: 'zene', startedAt: now, delivered: false }
    await store.beginTurn({ ...about, ...lease, turn })
    return turn
  }
  const ended = async (turn: string, outcome: TurnRecord['outcome'], code?: string): Promise<void> => {
    const record = (await store.readTurn(turn))!
    await store.endTurn({ ...record, endedAt: now, outcome: outcome!, ...(code !== undefined && { code }) })
  }

  test.each<[string, Once['replay'], TurnRecord['outcome'], string | undefined, boolean, boolean]>([
    ['an unread success', 'undelivered', 'completed', undefined, false, true],
    ['a success that was read', 'undelivered', 'completed', undefined, true, false],
    ['a failure that will come again', 'undelivered', 'failed', 'invalid-request', true, true],
    ['a failure that may not come again', 'undelivered', 'failed', 'timeout', true, false],
    ['a cancelled turn', 'undelivered', 'cancelled', undefined, false, false],
    ['any success, where successes are given again', 'success', 'completed', undefined, true, true],
    ['a failure, where successes are given again', 'success', 'failed', 'invalid-request', false, false],
    ['an unread success, where nothing is given again', 'never', 'completed', undefined, false, false],
  ])('is answered from the record after %s (%s): %6$s', async (_what, replay, outcome, code, read, again) => {
    const once = { ...UNDELIVERED, replay }
    const turn = await begun(once)
    await ended(turn, outcome, code)
    if (read) await store.markDelivered(turn)
    expect(await claim(asked(once))).toEqual(again ? { do: 'replay', turn } : { do: 'run' })
  })

  test.each<[string, Once, number]>([
    ['undelivered', UNDELIVERED, 60_000],
    ['success', { ...UNDELIVERED, replay: 'success' }, 600_000],
    ['its own', { ...UNDELIVERED, replay: 'success', ttlMs: 5000 }, 5000],
  ])('runs again when the window has closed, which opens with the end: %s', async (_what, once, windowMs) => {
    const turn = await begun(once)
    now += 3_600_000
    await ended(turn, 'completed')
    now += windowMs - 1
    expect(await claim(asked(once))).toEqual({ do: 'replay', turn })
    now += 1
    expect(await claim(asked(once))).toEqual({ do: 'run' })
  })

  test('waits for the turn that another process runs, however long ago it began', async () => {
    const turn = await begun(UNDELIVERED)
    now += 90_000
    const verdict = claim(asked(UNDELIVERED))
    await ended(turn, 'completed')
    expect(await verdict).toEqual({ do: 'replay', turn })
  })

  test('is never a second run of a turn that another process takes long for', async () => {
    const turn = await begun(UNDELIVERED)
    expect(await claim({ ...asked(UNDELIVERED), options: { totalMs: 10 } })).toEqual({ do: 'replay', turn })
  })

  test('is given up while it waits when nobody wants it any more', async () => {
    const turn = await begun(UNDELIVERED)
    let unwanted = false
    const verdict = idempotency.claim(keyed(asked(UNDELIVERED)), () => unwanted)
    unwanted = true
    expect(await verdict).toEqual({ do: 'stop' })
    await ended(turn, 'completed')
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'replay', turn })
  })

  test('runs when the process of the first one is gone', async () => {
    const turn = await begun(UNDELIVERED, GONE)
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'run' })
    // Which has its end from then on: what is left of that process can answer nothing.
    expect(await store.readTurn(turn)).toMatchObject({ outcome: 'failed', code: 'internal' })
  })

  test('runs when another process has ended the first one, whose process is gone, and has asked for it again', async () => {
    const turn = await begun(UNDELIVERED, GONE)
    expect(await recoverTurns(store, now)).toBe(1)
    const said = numbered(await store.readEvents(turn, 0), 0).map(({ event }) => event)
    expect(said).toMatchObject([{ type: 'turn-end', fault: LOST }])
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'run' })
  })

  test('waits for a process that may be gone until its lease is over, and not longer', async () => {
    const lease = { owner: 'late', epoch: await store.takeLease('late', now, now + 10) }
    await begun(UNDELIVERED, lease)
    let done = false
    const verdict = claim(asked(UNDELIVERED)).finally(() => {
      done = true
    })
    const looked = vi.spyOn(store, 'lapseLease')
    const looks = (count: number) => until(() => looked.mock.calls.length >= count)
    await looks(2)
    now += 10
    await looks(4)
    expect(done).toBe(false)
    now += LAST_CALL_MS
    expect(await verdict).toEqual({ do: 'run' })
  })

  const RUNNING: Once = { ...UNDELIVERED, holds: 'running' }
  test.each<[string, Once, TurnRecord['outcome'] | undefined, number, Verdict['do']]>([
    ['while the first one runs', UNDELIVERED, undefined, 0, 'refuse'],
    ['while the first one runs, which holds it so long', RUNNING, undefined, 0, 'refuse'],
    ['when it has ended, which held it so long', RUNNING, 'completed', 0, 'run'],
    ['when it has succeeded', UNDELIVERED, 'completed', 59_999, 'refuse'],
    ['when it has failed', UNDELIVERED, 'failed', 59_999, 'refuse'],
    ['when its window has closed', UNDELIVERED, 'completed', 60_000, 'run'],
    ['when its own window is open', { ...UNDELIVERED, ttlMs: 90_000 }, 'completed', 60_000, 'refuse'],
    ['when its answer is never given again', { ...UNDELIVERED, replay: 'never' }, 'completed', 0, 'run'],
  ])('is refused under the key of another one %s: %5$s', async (_when, once, outcome, later, verdict) => {
    const turn = await begun(once)
    if (outcome) await ended(turn, outcome, 'internal')
    now += later
    const other = asked(once, 'other')
    expect(await claim(other)).toEqual({ do: verdict })
    // A refused one has taken nothing from the first.
    if (verdict === 'refuse' && outcome === 'completed')
      expect(await claim(asked(once))).toEqual({ do: 'replay', turn })
  })

  test('is another one for another agent, and has a key of its own in another scope', async () => {
    await begun(UNDELIVERED)
    expect(await claim(asked(UNDELIVERED), 'session', 'b')).toEqual({ do: 'refuse' })
    expect(await claim(asked(UNDELIVERED), 'other session')).toEqual({ do: 'run' })
  })

  test('runs once, of several that come when the first has failed; the others wait for that one', async () => {
    await ended(await begun(UNDELIVERED), 'failed', 'timeout')
    const commands = [asked(UNDELIVERED), asked(UNDELIVERED), asked(UNDELIVERED)]
    const verdicts = commands.map((command) => claim(command))
    const first = await Promise.race(verdicts.map((verdict, at) => verdict.then(() => at)))
    const { turn } = commands[first]!
    await store.beginTurn({
      turn,
      session: 'session',
      tenant: 'local',
      agent: 'a',
      front: 'zene',
      ...ALIVE,
      startedAt: now,
      delivered: false,
    })
    await ended(turn, 'completed')
    const replayed = { do: 'replay', turn }
    expect(await Promise.all(verdicts)).toEqual(commands.map((_, at) => (at === first ? { do: 'run' } : replayed)))
  })

  test('gives its key back when its turn does not begin', async () => {
    const given = asked(UNDELIVERED)
    expect(await claim(given)).toEqual({ do: 'run' })
    await idempotency.giveUp(keyed(given))
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'run' })
  })

  describe('of this process', () => {
    let live: LiveTurns
    beforeEach(() => {
      live = new LiveTurns()
      idempotency = new Idempotency(store, () => now, live)
    })

    /** A turn that runs here under the key. */
    const running = async (once: Once): Promise<Turn> => {
      const { turn } = plainTurn({ command: { ...start(), turn: await begun(once), once } })
      live.add(turn)
      return turn
    }

    test('joins the turn that runs, at once and however long', async () => {
      const turn = await running(UNDELIVERED)
      now += 7_200_000
      const looks = vi.spyOn(store, 'readTurn')
      expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'join', turn })
      expect(looks).toHaveBeenCalledTimes(1)
    })

    test('is refused under the key of another one that runs', async () => {
      await running(UNDELIVERED)
      expect(await claim(asked(UNDELIVERED, 'other'))).toEqual({ do: 'refuse' })
      expect(await claim(asked({ ...UNDELIVERED, replay: 'never' }, 'other'))).toEqual({ do: 'refuse' })
    })

    test('goes on waiting for the record of a turn that has its end here', async () => {
      const turn = await running(UNDELIVERED)
      turn.take({ type: 'turn-end', turn: turn.id, outcome: 'completed' })
      const verdict = claim(asked(UNDELIVERED))
      await ended(turn.id, 'completed')
      expect(await verdict).toEqual({ do: 'replay', turn: turn.id })
    })

    test('has its window on a clock that is never set, for a turn that ended here', async () => {
      vi.useFakeTimers({ toFake: ['hrtime'] })
      const turn = await running(UNDELIVERED)
      turn.take({ type: 'turn-end', turn: turn.id, outcome: 'completed' })
      await ended(turn.id, 'completed')
      live.delete(turn)
      now += 86_400_000
      expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'replay', turn: turn.id })
      vi.advanceTimersByTime(60_000)
      expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'run' })
      vi.useRealTimers()
    })

    test('that is repeated without a key joins the first one, or runs', async () => {
      const first = start()
      const { turn } = plainTurn({ command: first })
      const attempt = {
        tenant: 'local',
        front: 'plain',
        agent: 'plain',
        command: start({ turn: 't2', retry: true }),
      }
      expect(idempotency.attempt(attempt)).toEqual({ do: 'run' })
      live.add(turn)
      expect(idempotency.attempt(attempt)).toEqual({ do: 'join', turn })
      expect(idempotency.attempt({ ...attempt, front: 'other' })).toEqual({ do: 'run' })
    })
  })

  test.each([
    ['the same request is answered from its record', 'hi', { do: 'replay', turn: 't1' }],
    ['another request is refused', 'other', { do: 'refuse' }],
  ])('of a turn that begins and ends when it has been waited for in vain: %s', async (_what, text, verdict) => {
    turns = 0
    const first = asked({ ...UNDELIVERED, replay: 'success' })
    expect(await claim(first)).toEqual({ do: 'run' })
    const { reclaim } = store
    store.reclaim = async (...given) => {
      // The turn of the first request was on its way to a slow store.
      const about = { session: 'session', tenant: 'local', agent: 'a', front: 'zene', startedAt: now, delivered: false }
      await store.beginTurn({ ...about, ...ALIVE, turn: first.turn })
      await ended(first.turn, 'completed')
      return reclaim.apply(store, given)
    }
    expect(await claim(asked({ ...UNDELIVERED, replay: 'success' }, text))).toEqual(verdict)
  })

  test('without a key claims, hands over and gives up nothing', async () => {
    const { once: _, ...command } = asked(UNDELIVERED)
    const calls = ['claim', 'reclaim', 'release'].map((name) => vi.spyOn(store, name as 'claim'))
    expect(await claim(command)).toEqual({ do: 'run' })
    await idempotency.handOver(keyed(command), 'other')
    await idempotency.giveUp(keyed(command))
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0])
  })

  test('whose work another turn does leads its duplicates to that', async () => {
    const given = asked(UNDELIVERED)
    expect(await claim(given)).toEqual({ do: 'run' })
    const about = { session: 'session', tenant: 'local', agent: 'a', front: 'zene', startedAt: now, delivered: false }
    await store.beginTurn({ ...about, ...ALIVE, turn: 'steered' })
    await idempotency.handOver(keyed(given), 'steered')
    await ended('steered', 'completed')
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'replay', turn: 'steered' })
    // It is still the same key: another request under it is refused.
    expect(await claim(asked(UNDELIVERED, 'other'))).toEqual({ do: 'refuse' })
  })

  test('gives back no key that another turn has taken since', async () => {
    const first = asked(UNDELIVERED)
    await claim(first)
    const about = { session: 'session', tenant: 'local', agent: 'a', front: 'zene', startedAt: now, delivered: false }
    await store.beginTurn({ ...about, ...ALIVE, turn: 'second' })
    await idempotency.handOver(keyed(first), 'second')
    await idempotency.giveUp(keyed(first))
    await ended('second', 'completed')
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'replay', turn: 'second' })
  })

  test('whose failure said itself that it may be tried again is run again', async () => {
    const end = (turn: string, retryable: boolean): Promise<unknown> => {
      const fault = { code: 'invalid-request', message: 'm', retryable }
      const lines = JSON.stringify({ type: 'turn-end', turn, outcome: 'failed', fault })
      return Promise.resolve(store.appendEvents([{ turn, seq: 1, lines }]))
    }
    const sure = await begun(UNDELIVERED)
    await end(sure, false)
    await ended(sure, 'failed', 'invalid-request')
    expect(await claim(asked(UNDELIVERED))).toEqual({ do: 'replay', turn: sure })
    const OTHER = { ...UNDELIVERED, key: 'k2' }
    const passing = await begun(OTHER)
    await end(passing, true)
    await ended(passing, 'failed', 'invalid-request')
    expect(await claim(asked(OTHER))).toEqual({ do: 'run' })
  })

  test('hands the turn of another process over once, however long it waits for it', async () => {
    const turn = await begun(UNDELIVERED)
    const heard: string[] = []
    const verdict = idempotency.claim(
      keyed(asked(UNDELIVERED)),
      () => false,
      async (record) => void heard.push(record.turn),
    )
    const looked = vi.spyOn(store, 'readTurn')
    await until(() => looked.mock.calls.length >= 3)
    await ended(turn, 'completed')
    expect([await verdict, heard]).toEqual([{ do: 'replay', turn }, [turn]])
  })

  test('that has gone to another process by then waits no more', async () => {
    await begun(UNDELIVERED)
    let left = false
    const elsewhere = async (): Promise<void> => {
      left = true
    }
    expect(await idempotency.claim(keyed(asked(UNDELIVERED)), () => left, elsewhere)).toEqual({ do: 'stop' })
  })

  test('of which the claim was never followed by a turn is run a moment later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] })
    await claim(asked(UNDELIVERED))
    let verdict: Verdict | undefined
    const next = asked(UNDELIVERED)
    void claim(next).then((found) => (verdict = found))
    await vi.advanceTimersByTimeAsync(499)
    expect(verdict).toBeUndefined()
    await vi.advanceTimersByTimeAsync(100)
    expect(verdict).toEqual({ do: 'run' })
    vi.useRealTimers()
  })
})

test('the key of a scope is no key of another one, wherever one ends', () => {
  const once = (key: string): Once => ({ key, duplicate: 'join', replay: 'never' })
  const keys = [keyOf('a', once('b')), keyOf('ab', once('')), keyOf('', once('ab')), keyOf('a","', once('b'))]
  expect(new Set(keys).size).toBe(4)
})
