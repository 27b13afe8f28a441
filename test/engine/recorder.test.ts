import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Route, Store } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { UNWRITABLE } from '../../src/engine/common/faults.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import type { Lease } from '../../src/engine/record/lease.ts'
import { showPast } from '../../src/engine/record/past.ts'
import { Recorder } from '../../src/engine/record/recorder.ts'
import { needsRecord } from '../../src/engine/record/store-watch.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { type Command, TextRun, type TurnEvent, type TurnStart } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, notingLog, PlainHost, plainTurn, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

let store: Store
const broken = { now: false }

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'hrtime'] })
  const real = openStore({ kind: 'sqlite', path: ':memory:' })
  broken.now = false
  // The real store, which cannot be written for a while.
  store = new Proxy(real, {
    get(of, name: keyof Store) {
      const method = of[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (broken.now && !/^(read|find|list|unfinished|close)/.test(name)) throw storeFailure('disk full')
        return method.apply(of, args)
      }
    },
  })
  await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
})
afterEach(async () => {
  vi.useRealTimers()
  broken.now = false
  await store.close()
})

/** A recorder with its watch, and turns that it records as the engine does. */
function recording() {
  const logged: string[] = []
  const note = (message: string): void => void logged.push(message)
  const { turns, recorder, watch, lease } = engineParts(store, settingsOf([]), { log: notingLog(note) })
  const begin = async (
    command: Command & TurnStart = start(),
    route: Partial<Route> = {},
    promised = true,
  ): Promise<{ turn: Turn; host: PlainHost; say: (...events: TurnEvent[]) => void }> => {
    const { turn, host } = plainTurn({ command, route, peers: { recorder, turns } })
    turns.add(turn)
    watch.began(turn, command.once !== undefined)
    await recorder.begin(turn, { tenant: 'local', front: 'plain', promised })
    const say = (...events: TurnEvent[]): void => {
      for (const event of events) turn.take(event)
    }
    return { turn, host, say }
  }
  const events = async (turn = 't'): Promise<TurnEvent[]> =>
    numbered(await store.readEvents(turn, 0), 0).map(({ event }) => event)
  return { recorder, watch, lease, begin, events, logged }
}

const MESSAGE: TurnEvent[] = [
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'hello' },
]
const DELTA = { type: 'text-delta', turn: 't', message: 'm' } as const
const PARKED: TurnEvent = { type: 'turn-parked', turn: 't', continuation: 't.1', asks: [], deadline: 1 }
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }
const USAGE: TurnEvent = { type: 'usage', turn: 't', scope: 'turn', usage: { input: 3 } }

test.each<[Partial<Route>, boolean]>([
  [{}, false],
  [{}, true],
  [{ journal: 'shape' }, false],
])('on the route %j pieces of text are recorded and shown as events are, followed: %s', async (route, followed) => {
  const { begin, recorder } = recording()
  const { turn, host, say } = await begin(start(), route)
  const begun: TurnEvent = { type: 'message-start', turn: turn.id, message: 'm', role: 'assistant' }
  const events = ['a', '"', 'c'].map((text) => ({ type: 'text-delta', turn: turn.id, message: 'm', text }) as const)
  const follower = new PlainHost()
  const own = turn.newView('s')
  if (followed) turn.audience.add(new Exchange({ ...start({}, 'y') }, ANSWER, follower), own)
  say(begun)
  turn.takeTexts(new TextRun(events[0]!, ['a', '"', 'c']))
  const all = [begun, ...events]
  expect((await recorder.events(turn)).map(({ seq, event }) => [seq, event])).toEqual(
    all.map((event, at) => [at + 1, event]),
  )
  expect([host.events, turn.view.seq, turn.view.message('m')?.text]).toEqual([all, 4, 'a"c'])
  if (followed) expect([follower.events, own.seq, own.message('m')?.text]).toEqual([all, 4, 'a"c'])
  turn.cancel()
})

describe('the record of a turn', () => {
  test('has its events, its end, what was said, and its usage', async () => {
    const { recorder, begin, events } = recording()
    const { turn, say } = await begin(start({ request: 'r' }))
    expect(await store.unfinishedTurns()).toMatchObject([{ turn: 't', request: 'r', agent: 'plain' }])
    say(...MESSAGE)
    recorder.steered(turn, [{ type: 'text', text: 'more' }])
    say(USAGE, END)
    recorder.steered(turn, [{ type: 'text', text: 'too late' }])
    await recorder.flush()
    expect(await events()).toEqual([...MESSAGE, USAGE, END])
    expect(await store.readTurn('t')).toMatchObject({ outcome: 'completed', endedAt: 5, delivered: false })
    expect((await store.readMessages('kept')).map(({ role, parts }) => [role, parts])).toEqual([
      ['user', [{ type: 'text', text: 'hi' }]],
      ['assistant', [{ type: 'text', text: 'hello' }]],
      ['user', [{ type: 'text', text: 'more' }]],
    ])
    expect(await store.usageOf('kept')).toEqual({ input: 3 })
  })

  test.each<[string, Partial<TurnStart>, Partial<Route>]>([
    ['whose route keeps the shape alone', {}, { journal: 'shape' }],
    ['whose client calls it secret', { environment: { privacy: 'secret', json: '{}' } }, {}],
  ])('%s is without what was said, which those who join are shown all the same', async (_which, more, route) => {
    const { recorder, begin, events } = recording()
    const { turn, say } = await begin(start(more), route)
    say(...MESSAGE)
    expect((await recorder.events(turn)).map(({ event }) => event)).toEqual(MESSAGE)
    say(END)
    await recorder.flush()
    expect(JSON.stringify([await events(), await recorder.events(turn)])).not.toContain('hello')
    expect(await store.readMessages('kept')).toEqual([])
    expect((await store.readTurn('t'))?.measures).toMatchObject({ shape: true })
  })

  /** The states of the turns in the record, and how many events each has. */
  const recorded = async () => {
    const turns = (await store.listTurns({ tenant: 'local', limit: 9 }))!.rows
    const count = async (turn: string) => numbered(await store.readEvents(turn, 0), 0).length
    return Promise.all(turns.map(async ({ turn, outcome = 'running' }) => [turn, outcome, await count(turn)]))
  }

  test('is one row with its end, when nothing is promised of it and it ends soon', async () => {
    const { begin, lease } = recording()
    await lease.serve('gateway')
    const { say } = await begin(start(), {}, false)
    say(...MESSAGE)
    await vi.advanceTimersByTimeAsync(199)
    expect(await recorded()).toEqual([])
    say(END)
    expect(await recorded()).toEqual([['t', 'completed', 3]])
    await vi.advanceTimersByTimeAsync(1000)
    expect([await store.unfinishedTurns(), await recorded()]).toEqual([[], [['t', 'completed', 3]]])
  })

  test('has its beginning and its events when nothing is promised of it and it runs for longer', async () => {
    const { begin, events, lease } = recording()
    await lease.serve('gateway')
    const { say } = await begin(start(), {}, false)
    say(...MESSAGE)
    await vi.advanceTimersByTimeAsync(200)
    expect(await recorded()).toEqual([['t', 'running', 2]])
    say(USAGE)
    await vi.advanceTimersByTimeAsync(449)
    expect(await recorded()).toEqual([['t', 'running', 2]])
    await vi.advanceTimersByTimeAsync(101)
    expect(await recorded()).toEqual([['t', 'running', 3]])
    say(END)
    expect(await recorded()).toEqual([['t', 'completed', 4]])
    expect(await events()).toEqual([...MESSAGE, USAGE, END])
  })

  test.each([[['a', 'b']], [['b', 'c']], [['c', 'a']], [['c', 'b']]])(
    'is written when it is due, also when %j that waited with it have ended',
    async (ended) => {
      const { begin, lease } = recording()
      await lease.serve('gateway')
      const turns = new Map<string, Awaited<ReturnType<typeof begin>>>()
      for (const turn of ['a', 'b', 'c']) turns.set(turn, await begin(start({ turn }), {}, false))
      const end = (turn: string): void => turns.get(turn)!.say({ ...END, turn } as TurnEvent)
      for (const turn of ended) end(turn)
      await vi.advanceTimersByTimeAsync(200)
      const [left = ''] = ['a', 'b', 'c'].filter((turn) => !ended.includes(turn))
      expect((await store.unfinishedTurns()).map(({ turn }) => turn)).toEqual([left])
      end(left)
      await vi.advanceTimersByTimeAsync(1000)
      expect(await store.unfinishedTurns()).toEqual([])
      const outcomes = ['a', 'b', 'c'].map(async (turn) => (await store.readTurn(turn))?.outcome)
      expect(await Promise.all(outcomes)).toEqual(['completed', 'completed', 'completed'])
    },
  )

  test.each([
    ['other processes use the store', true],
    ['none does', false],
  ])('that ends while the store is asked for others is not recorded as running afterwards: %s', async (_, shared) => {
    const { lease, recorder } = recording()
    await lease.serve('gateway')
    const asked = Promise.withResolvers<boolean>()
    Object.assign(store, { hasOtherLease: () => asked.promise })
    const { turn, host } = plainTurn({ command: start(), peers: { recorder } })
    const begun = recorder.begin(turn, { tenant: 'local', front: 'plain', promised: false })
    turn.take(MESSAGE[0]!)
    turn.take(END)
    asked.resolve(shared)
    await begun
    await vi.advanceTimersByTimeAsync(1000)
    expect(host.types.at(-1)).toBe('turn-end')
    expect([await store.unfinishedTurns(), await recorded()]).toEqual([[], [['t', 'completed', 2]]])
    expect(vi.getTimerCount()).toBe(1)
    await lease.drop()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('has its events after half a second when it was promised', async () => {
    const { begin } = recording()
    const { say } = await begin()
    expect(await recorded()).toEqual([['t', 'running', 0]])
    say(...MESSAGE)
    await vi.advanceTimersByTimeAsync(449)
    expect(await recorded()).toEqual([['t', 'running', 0]])
    await vi.advanceTimersByTimeAsync(101)
    expect(await recorded()).toEqual([['t', 'running', 2]])
  })

  test.each<[string, (recorder: Recorder, turn: Turn) => Promise<unknown>]>([
    ['somebody joins it', (recorder, turn) => recorder.events(turn)],
    ['somebody asks for the turns', (recorder) => recorder.flush()],
    ['it is parked', async (_recorder, turn) => turn.take(PARKED)],
    ['much waits to be written', async (_recorder, turn) => turn.take({ ...DELTA, text: 'x'.repeat(1_048_576) })],
  ])('has its beginning as soon as %s', async (_what, happens) => {
    const { recorder, begin, lease } = recording()
    await lease.serve('gateway')
    const { turn, say } = await begin(start(), {}, false)
    say(...MESSAGE)
    await happens(recorder, turn)
    await recorder.commit()
    expect(await recorded()).toEqual([['t', 'running', turn.view.seq]])
  })

  test.each<[string, (lease: Lease) => Promise<unknown>]>([
    ['this process ends with its client', async () => {}],
    ['another process uses the store', (lease) => lease.serve('gateway').then(() => store.takeLease('other', 1, 1000))],
  ])('has its beginning at once when %s', async (_what, happens) => {
    const { begin, lease } = recording()
    await happens(lease)
    await begin(start(), {}, false)
    expect(await recorded()).toEqual([['t', 'running', 0]])
  })

  test('does not wait for its beginning when nobody has used the store for long', async () => {
    const { begin, lease } = recording()
    await lease.serve('gateway')
    await store.takeLease('gone', 1, 9)
    await begin(start(), {}, false)
    expect(await recorded()).toEqual([])
  })

  test('has the session and the agent that took it in the end', async () => {
    await store.openSession({ tenant: 'local', agent: 'other', session: 's', conversation: '' }, 'next', 1)
    const { recorder, begin, lease } = recording()
    await lease.serve('gateway')
    for (const promised of [true, false]) {
      const { turn, say } = await begin(start({ turn: `t-${promised}` }), {}, promised)
      turn.agent = { ...turn.agent, name: 'other' }
      await recorder.move(turn, 'next')
      const moved = { agent: 'other', session: 'next' }
      if (promised) expect(await store.unfinishedTurns()).toMatchObject([moved])
      say({ ...END, turn: turn.id })
      expect(await store.readTurn(turn.id)).toMatchObject({ ...moved, outcome: 'completed' })
      expect(await store.unfinishedTurns()).toEqual([])
    }
  })

  test('has what an agent said between turns after them', async () => {
    const { recorder, begin } = recording()
    const { say } = await begin(start(), {}, false)
    say(...MESSAGE, END)
    recorder.unasked((await store.readSession('kept'))!, 'by the way', 7)
    const messages = await store.readMessages('kept')
    expect(messages.at(-1)).toEqual({ role: 'assistant', parts: [{ type: 'text', text: 'by the way' }], at: 7 })
    expect(messages).toHaveLength(3)
  })

  test('says a moment later that its client has it', async () => {
    const { recorder, begin } = recording()
    const { say } = await begin()
    say(END)
    await recorder.flush()
    recorder.delivered('t')
    await vi.advanceTimersByTimeAsync(49)
    expect((await store.readTurn('t'))?.delivered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect((await store.readTurn('t'))?.delivered).toBe(true)
  })
})

describe('a store that cannot be written', () => {
  test('lets a turn go on that says so, and is tried until it can be', async () => {
    const { recorder, watch, begin, logged } = recording()
    const { turn, host, say } = await begin()
    say(...MESSAGE)
    broken.now = true
    await recorder.flush().catch(() => {})
    await vi.advanceTimersByTimeAsync(0)
    expect([watch.writable, watch.keeps(turn), watch.failures]).toEqual([false, false, 1])
    expect(host.types.at(-1)).toBe('notice')
    await vi.advanceTimersByTimeAsync(1000)
    expect(watch.writable).toBe(false)
    broken.now = false
    await vi.advanceTimersByTimeAsync(1000)
    expect(watch.writable).toBe(true)
    say(END)
    await recorder.flush()
    expect(await store.readTurn('t')).toMatchObject({ outcome: 'failed', code: 'internal' })
    expect(logged).toEqual(['the record could not be written', 'the record can be written again'])
    watch.close()
  })

  test.each([
    ['replicas', { replicas: {} }, true],
    ['one process', {}, false],
  ])('shows nobody a success that the store of %s did not take, where others end it', async (_, shared, refused) => {
    const away = async (): Promise<boolean> => {
      throw storeFailure('away')
    }
    Object.assign(store, shared, { endTurn: away })
    const { recorder, begin, watch } = recording()
    const { host, say } = await begin()
    say(...MESSAGE, END)
    await recorder.commit()
    expect(host.client.refused).toBe(refused)
    watch.close()
  })

  test.each([
    ['a key, of which nobody is told the success', { once: { key: 'k' } as never }, true],
    ['no key, whose client is told it all the same', {}, false],
  ])('does not take the end of a turn with %s', async (_, more, refused) => {
    const { recorder, watch, begin } = recording()
    const { host, say } = await begin(start(more))
    await recorder.flush()
    await new Promise(setImmediate)
    broken.now = true
    say(...MESSAGE, END)
    await Promise.resolve()
    expect([host.types.at(-1), host.client.refused]).toEqual(['turn-end', refused])
    watch.close()
  })

  test('has a turn refused that was promised to be kept', async () => {
    const { watch, begin } = recording()
    broken.now = true
    const { turn, host } = await begin(start({ once: { key: 'k' } as never }))
    await vi.advanceTimersByTimeAsync(0)
    expect(host.events.map((event) => event.type === 'turn-end' && event.fault)).toEqual([UNWRITABLE])
    expect(turn.ended).toBe(true)
    watch.close()
  })

  test('is tried again by a request that needs it, not more often than every 100 ms', async () => {
    const { watch } = recording()
    broken.now = true
    watch.failed(storeFailure('full'))
    expect(await watch.ready()).toBe(false)
    broken.now = false
    expect(await watch.ready()).toBe(false)
    vi.advanceTimersByTime(100)
    expect(await watch.ready()).toBe(true)
    watch.close()
  })
})

test.each<[Command, boolean]>([
  [start(), false],
  [start({ once: { key: 'k' } as never }), true],
  [{ exchange: 'x', type: 'session-clear' }, true],
  [{ exchange: 'x', type: 'config-set', mode: 'plan' }, true],
  [{ exchange: 'x', type: 'query', what: 'models' }, false],
])('%j needs a record: %s', (command, needs) => {
  expect(needsRecord(command, new Exchange(command, ANSWER, new PlainHost()))).toBe(needs)
  expect(needsRecord(start(), new Exchange(start(), { ...ANSWER, form: 'accepted' }, new PlainHost()))).toBe(true)
})

describe('a recorded turn', () => {
  async function past(route: Partial<Route> = {}, say: readonly TurnEvent[] = [...MESSAGE, END]) {
    const { recorder, begin } = recording()
    const { say: take, turn } = await begin(start(), route)
    turn.accept()
    take(...say)
    await recorder.flush()
    return { recorder, take }
  }

  /** Shows it to an exchange from an event on. */
  function show(after: number, command: Command = start({ request: 'again' })) {
    const host = new PlainHost()
    const exchange = new Exchange(command, ANSWER, host)
    const shown = store.readTurn('t')
    const done = Promise.resolve(shown).then((record) =>
      showPast({ store, now: () => 9 }, { record: record!, session: 's', after, request: 'again' }, exchange),
    )
    return { host, exchange, done }
  }

  test('is shown from any event on, accepted under the request that it is shown to', async () => {
    await past()
    const all = show(0)
    await all.done
    expect(all.host.types).toEqual(['turn-accepted', 'message-start', 'text-delta', 'turn-end'])
    expect(all.host.events[0]).toMatchObject({ how: 'replayed', request: 'again' })
    const rest = show(2)
    await rest.done
    expect(rest.host.types).toEqual(['text-delta', 'turn-end'])
  })

  test('of which the shape alone was kept is no answer, and can be followed', async () => {
    await past({ journal: 'shape' })
    const { host, done } = show(0)
    await done
    expect(host.faults.map(({ code }) => code)).toEqual(['invalid-request'])
    const follower = show(0, { exchange: 'x', type: 'turn-follow', target: { turn: 't' } })
    await follower.done
    expect(follower.host.types).toContain('turn-end')
  })

  test('that still runs is shown as more of it is recorded', async () => {
    const { recorder, take } = await past({}, MESSAGE)
    const { host, done } = show(0)
    await vi.advanceTimersByTimeAsync(100)
    expect(host.types).toEqual(['turn-accepted', 'message-start', 'text-delta'])
    take(END)
    await recorder.flush()
    await vi.advanceTimersByTimeAsync(100)
    await done
    expect(host.types.at(-1)).toBe('turn-end')
  })

  test('that still runs is ended with the losses that are recorded with its end', async () => {
    const { recorder, begin } = recording()
    const { say: take, turn } = await begin(start())
    turn.accept()
    const plan = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 } as const
    const ext = { ...plan, item: 'ext' } as const
    turn.loss(plan)
    turn.audience.first.lost(ext)
    const { host, exchange, done } = show(0)
    // Another process has written the end of the turn to the journal, and not yet to its record.
    await store.appendEvents([{ turn: 't', seq: turn.view.seq + 1, lines: JSON.stringify(END) }])
    await vi.advanceTimersByTimeAsync(600)
    expect(host.types).toEqual(['turn-accepted'])
    take(END)
    await recorder.flush()
    await vi.advanceTimersByTimeAsync(100)
    await done
    expect([host.types.at(-1), exchange.losses]).toEqual(['turn-end', [plan]])
  })

  test('that still runs is left by an exchange that is cancelled', async () => {
    const { take } = await past({}, MESSAGE)
    const { host, exchange, done } = show(0)
    exchange.cancel()
    await done
    expect(host.faults.map(({ code }) => code)).toEqual(['cancelled'])
    take(END)
  })
})

test('a store that replicas share commits what it was given so far, and what comes meanwhile is not waited for', async () => {
  const asked: string[] = []
  const done: (() => void)[] = []
  const shared = {
    replicas: {},
    bindSession: (id: string) => {
      asked.push(id)
      return new Promise<void>((resolve) => done.push(resolve))
    },
    commit: async () => void asked.push('commit'),
  } as unknown as Store
  const recorder = new Recorder(shared, { writable: true } as never, { confirm: () => true } as never, {} as never)
  const session = { tenant: 'local', agent: 'plain', session: 's', conversation: '', createdAt: 1, usedAt: 1 }
  recorder.bind({ ...session, id: 'one' })
  const committed = recorder.commit()
  recorder.bind({ ...session, id: 'two' })
  done[0]!()
  await committed
  expect(asked).toEqual(['one', 'commit', 'two'])
})
