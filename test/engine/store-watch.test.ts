import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SessionRecord, Store } from '../../src/contract/index.ts'
import type { Exchange } from '../../src/engine/client/exchange.ts'
import { UNWRITABLE } from '../../src/engine/common/faults.ts'
import { needsRecord, StoreWatch, tellUnrecorded } from '../../src/engine/record/store-watch.ts'
import type { Command, Fault, TurnEvent } from '../../src/model/index.ts'
import { notingLog, plainTurn, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

const BROKEN = storeFailure('disk full')
const MISTAKE = new TypeError('undefined is no function')
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }
const INCOMPLETE = 'The gateway could not write its record while this turn ran, so what became of it is not known here.'

/** A tick of the event loop that no fake timer holds up. */
const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(() => queueMicrotask(resolve)))

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate', 'hrtime'] }))
afterEach(() => void vi.useRealTimers())

interface Setting {
  /** The store is one that replicas share. */
  shared?: boolean
  sessions?: readonly SessionRecord[]
  unfinished?: readonly object[]
}

/** A watch of a store that works or not, with turns that run. */
function watching({ shared = false, sessions = [], unfinished = [] }: Setting = {}) {
  const logged: unknown[] = []
  const asked: unknown[] = []
  const is: { by: Error | undefined } = { by: undefined }
  const note =
    (name: string, result: unknown = undefined) =>
    async (...args: unknown[]) => {
      asked.push([name, ...args])
      if (is.by) throw is.by
      return result
    }
  const store = {
    probe: note('probe'),
    openSession: note('openSession'),
    bindSession: note('bindSession', true),
    unfinishedTurns: note('unfinishedTurns', unfinished),
    readTurn: note('readTurn', { turn: 't', session: 'kept' }),
    readEvents: async () => [],
    endTurn: note('endTurn', true),
    ...(shared && { replicas: {} }),
  } as unknown as Store
  const running: ReturnType<typeof plainTurn>[] = []
  const turns = {
    values: () => running.map(({ turn }) => turn),
    get: (id: string) => running.find(({ turn }) => turn.id === id)?.turn,
  }
  const watch = new StoreWatch({
    store,
    lease: { covers: ({ owner }: { owner: string }) => owner === 'here' } as never,
    log: notingLog((message, fields) => void logged.push(fields ? [message, fields] : [message])),
    turns: turns as never,
    sessions: { values: () => sessions.map((record) => ({ record })) } as never,
    now: () => 77,
  })
  /** A turn that runs, and what it was told. */
  const run = (id = 't', promised = false) => {
    const made = plainTurn({ command: start({ turn: id }) })
    running.push(made)
    watch.began(made.turn, promised)
    const refusals: Fault[] = []
    const refuse = made.turn.refuse.bind(made.turn)
    made.turn.refuse = (why) => {
      refusals.push(why)
      refuse(why)
    }
    return { ...made, refusals }
  }
  return { watch, is, asked, logged, run, running }
}

const namesOf = (asked: readonly unknown[]): unknown[] => asked.map((one) => (one as unknown[])[0])

describe('a store that fails', () => {
  test('cannot be written from then on, which is logged once, and each failure is counted', async () => {
    const { watch, logged } = watching()
    expect([watch.writable, watch.failures]).toEqual([true, 0])
    watch.failed(BROKEN)
    watch.failed(BROKEN)
    await tick()
    expect([watch.writable, watch.failures]).toEqual([false, 2])
    expect(logged).toEqual([['the record could not be written', { error: String(BROKEN) }]])
    watch.close()
  })

  test('is tried every second until it can be written, which is logged too', async () => {
    const { watch, is, asked, logged } = watching()
    is.by = BROKEN
    watch.failed(BROKEN)
    await vi.advanceTimersByTimeAsync(2000)
    expect([watch.writable, namesOf(asked)]).toEqual([false, ['probe', 'probe']])
    is.by = undefined
    await vi.advanceTimersByTimeAsync(1000)
    expect([watch.writable, logged.at(-1)]).toEqual([true, ['the record can be written again', { failures: 1 }]])
    asked.length = 0
    await vi.advanceTimersByTimeAsync(5000)
    expect(asked).toEqual([])
  })

  test('is tried for a request that needs it, at most ten times a second', async () => {
    const { watch, is, asked } = watching()
    expect(await watch.ready()).toBe(true)
    expect(asked).toEqual([])
    is.by = BROKEN
    watch.failed(BROKEN)
    await vi.advanceTimersByTimeAsync(100)
    expect(await watch.ready()).toBe(false)
    await vi.advanceTimersByTimeAsync(99)
    expect(await watch.ready()).toBe(false)
    expect(namesOf(asked)).toEqual(['probe'])
    is.by = undefined
    await vi.advanceTimersByTimeAsync(1)
    expect(await watch.ready()).toBe(true)
  })

  test('is tried once at a time', async () => {
    const { watch, asked, is } = watching()
    is.by = BROKEN
    watch.failed(BROKEN)
    await vi.advanceTimersByTimeAsync(200)
    const both = [watch.ready(), watch.ready()]
    expect(await Promise.all(both)).toEqual([false, false])
    expect(namesOf(asked)).toEqual(['probe'])
    watch.close()
  })

  test('is no more tried by a gateway that has stopped', async () => {
    const { watch, asked, is } = watching()
    is.by = BROKEN
    watch.failed(BROKEN)
    watch.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect([asked, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('throws on what is no failure of the store', () => {
    const { watch } = watching()
    expect(() => watch.unavailable(MISTAKE)).toThrow(MISTAKE)
    expect([watch.writable, watch.failures]).toEqual([true, 0])
    watch.unavailable(BROKEN)
    expect([watch.writable, watch.failures]).toEqual([false, 1])
    watch.close()
  })
})

describe('a running turn', () => {
  test('goes on without its record when the store fails, and says so once', async () => {
    const { watch, run } = watching()
    const { turn, host } = run()
    turn.take({ type: 'turn-started', turn: 't' })
    expect(watch.keeps(turn)).toBe(true)
    watch.failed(BROKEN)
    watch.failed(BROKEN)
    expect(watch.keeps(turn)).toBe(true)
    await tick()
    expect([watch.keeps(turn), turn.ended]).toEqual([false, false])
    watch.failed(BROKEN)
    await tick()
    expect(host.types.filter((type) => type === 'notice')).toHaveLength(1)
    watch.close()
  })

  test('says nothing before its client knows that it is accepted', async () => {
    const { watch, run } = watching()
    const { host, turn } = run()
    watch.failed(BROKEN)
    await tick()
    expect([host.types, watch.keeps(turn)]).toEqual([[], false])
    watch.close()
  })

  test('whose client relies on its record is refused while its beginning may not be there', async () => {
    const { watch, run } = watching()
    const { refusals, turn } = run('t', true)
    watch.failed(BROKEN)
    await tick()
    expect([refusals, turn.ended]).toEqual([[UNWRITABLE], true])
    watch.close()
  })

  test('whose beginning was written goes on, even if its client relies on it', async () => {
    const { watch, run } = watching()
    const { refusals, turn } = run('t', true)
    watch.begun(turn)
    vi.runAllTicks()
    vi.advanceTimersByTime(0)
    watch.failed(BROKEN)
    await tick()
    expect([refusals, watch.keeps(turn)]).toEqual([[], false])
    watch.close()
  })

  test('that begins while the store cannot be written has no record, whatever its client relies on', async () => {
    const { watch, run } = watching()
    watch.failed(BROKEN)
    await tick()
    const { turn, refusals } = run('t', true)
    expect([watch.keeps(turn), refusals]).toEqual([false, []])
    watch.close()
  })

  test('with its end under way is cut, unless it has failed anyway', async () => {
    const { watch, run } = watching()
    const [done, failed] = [run('t'), run('u')]
    done.turn.take(END)
    failed.turn.take({ ...END, turn: 'u', outcome: 'failed' })
    const cuts: string[] = []
    done.turn.audience.cut = () => void cuts.push('t')
    failed.turn.audience.cut = () => void cuts.push('u')
    watch.ending(done.turn)
    watch.ending(failed.turn)
    watch.failed(BROKEN)
    await tick()
    expect(cuts).toEqual(['t'])
    watch.close()
  })

  test('whose end was committed is not cut any more', async () => {
    const { watch, run } = watching()
    const { turn } = run()
    turn.take(END)
    const cuts: string[] = []
    turn.audience.cut = () => void cuts.push('t')
    watch.ending(turn)
    vi.advanceTimersByTime(0)
    watch.failed(BROKEN)
    await tick()
    expect(cuts).toEqual([])
    watch.close()
  })

  test('of which a write went wrong in the gateway ends as one whose record is incomplete; the store is not to blame', async () => {
    const { watch, run, logged } = watching()
    const [concerned, other] = [run('t'), run('u')]
    watch.failed(MISTAKE, concerned.turn)
    await tick()
    expect(concerned.refusals).toMatchObject([{ code: 'internal', message: INCOMPLETE }])
    expect([other.refusals, watch.writable, watch.failures]).toEqual([[], true, 1])
    expect(logged).toEqual([['a write of the record went wrong in the gateway', { error: String(MISTAKE) }]])
  })
})

describe('a turn whose record is incomplete and that has its end', () => {
  test('gets an end in the record that says so, once the store can be written', async () => {
    const { watch, run, asked } = watching()
    const { turn } = run()
    await watch.ended(turn)
    expect(asked.at(-1)).toMatchObject(['endTurn', { turn: 't', endedAt: 77, outcome: 'failed', code: 'internal' }, {}])
  })

  test('gets none while it cannot be written', async () => {
    const { watch, run, asked } = watching()
    const { turn } = run()
    watch.failed(BROKEN)
    await watch.ended(turn)
    expect(asked).toEqual([])
    watch.close()
  })
})

describe('a store that can be written again', () => {
  const session = (id: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
    id,
    tenant: 'local',
    agent: 'plain',
    session: id,
    conversation: '',
    createdAt: 1,
    usedAt: 5,
    ...more,
  })
  const left = (turn: string, owner: string): object => ({ turn, owner, session: 'kept', startedAt: 1 })

  async function mended(setting: Setting, running: readonly string[] = []) {
    const it = watching(setting)
    for (const id of running) it.run(id)
    it.is.by = BROKEN
    it.watch.failed(BROKEN)
    await tick()
    it.is.by = undefined
    await vi.advanceTimersByTimeAsync(1000)
    return it
  }

  test('is given the sessions that began meanwhile, as they are', async () => {
    const owner = { owner: 'here', epoch: 1 }
    const sessions = [session('a', { bound: 'own' }), session('b', { owner })]
    const { asked } = await mended({ sessions })
    expect(asked.filter((one) => /Session$/.test(String((one as unknown[])[0])))).toEqual([
      ['openSession', sessions[0], 'a', 5],
      ['bindSession', 'a', 'own', undefined],
      ['openSession', sessions[1], 'b', 5],
      ['bindSession', 'b', undefined, owner],
    ])
  })

  test('that replicas share is given no session: another one may have deleted it', async () => {
    const { asked, watch } = await mended({ sessions: [session('a')], shared: true })
    expect(watch.writable).toBe(true)
    expect(namesOf(asked)).not.toContain('openSession')
  })

  test('has the turns of this process ended that do not run any more, and no others', async () => {
    const unfinished = [left('mine', 'here'), left('runs', 'here'), left('theirs', 'there')]
    const { asked } = await mended({ unfinished }, ['runs'])
    const ends = asked.filter((one) => (one as unknown[])[0] === 'endTurn').map((one) => (one as [string, object])[1])
    expect(ends).toMatchObject([{ turn: 'mine', outcome: 'failed', endedAt: 77 }])
  })
})

describe('a store that replicas share', () => {
  test('can be written as long as it answers: one write that was lost concerns its turn alone', async () => {
    const { watch, run, asked } = watching({ shared: true })
    const [concerned, other] = [run('t'), run('u')]
    watch.failed(BROKEN, concerned.turn)
    await tick()
    expect(namesOf(asked)).toContain('probe')
    expect([concerned.refusals, other.refusals]).toMatchObject([[{ message: INCOMPLETE }], []])
    expect([watch.writable, watch.keeps(other.turn)]).toEqual([true, true])
    watch.close()
  })

  test('whose turn has not begun in the record has it refused as one that cannot be recorded', async () => {
    const { watch, run } = watching({ shared: true })
    const { turn, refusals } = run('t', true)
    watch.failed(BROKEN, turn)
    await tick()
    expect(refusals).toEqual([UNWRITABLE])
    watch.close()
  })

  test('cannot be written once it does not answer either; turns that run go on', async () => {
    const { watch, run, is } = watching({ shared: true })
    const { turn, refusals } = run('t')
    is.by = BROKEN
    watch.failed(BROKEN)
    await vi.advanceTimersByTimeAsync(0)
    expect([watch.writable, watch.keeps(turn), refusals]).toEqual([false, true, []])
    watch.close()
  })

  test('concerns no turn that has its end', async () => {
    const { watch, run } = watching({ shared: true })
    const { turn, refusals } = run('t')
    turn.take(END)
    watch.failed(BROKEN, turn)
    await tick()
    expect(refusals).toEqual([])
    watch.close()
  })
})

test.each<[Partial<Command> & { type: Command['type'] }, form: string | undefined, needs: boolean]>([
  [{ type: 'turn-delete' }, undefined, true],
  [{ type: 'session-clear' }, undefined, true],
  [{ type: 'session-delete' }, undefined, true],
  [{ type: 'session-fork' }, undefined, true],
  [{ type: 'config-set' }, undefined, true],
  [{ type: 'query' }, 'accepted', false],
  [{ type: 'turn-cancel' }, 'accepted', false],
  [{ type: 'turn-start' }, 'stream', false],
  [{ type: 'turn-start' }, undefined, false],
  [{ type: 'turn-start' }, 'accepted', true],
  [{ type: 'turn-start', once: { key: 'k' } } as never, 'stream', true],
])('the command %j with an answer of the form %s needs the record: %s', (command, form, needs) => {
  const exchange = form === undefined ? undefined : ({ answer: { form } } as Exchange)
  expect(needsRecord(command as Command, exchange)).toBe(needs)
})

test('a client is told that its turn is not recorded, and its trace too', () => {
  const { turn, host } = plainTurn()
  const notes: unknown[] = []
  turn.scope.note = (...about) => void notes.push(about)
  tellUnrecorded(turn)
  expect(host.events).toMatchObject([
    {
      type: 'notice',
      severity: 'warning',
      code: 'unrecorded',
      text: 'This turn is not recorded: the gateway cannot write its record now.',
    },
  ])
  expect(notes).toEqual([['unrecorded']])
})
