import fc from 'fast-check'
import { expect, it } from 'vitest'
import type {
  Awaitable,
  EventBlock,
  LeaseRef,
  SessionKey,
  Store,
  TurnAdditions,
  TurnRecord,
} from '../../src/contract/index.ts'
import type { Id, Message } from '../../src/model/index.ts'
import { StoreModel } from './model.ts'

/** Texts of others that are hard to write. */
const TEXTS = ['', 'a', "it's", 'a\0b', '\ud800', '\udbff', '\ufdd0"x"', '\\"\n', '😀', "';--"]
const text = fc.constantFrom(...TEXTS)

const KEYS: readonly SessionKey[] = [
  { tenant: 'acme', agent: 'coder', session: 's-1', conversation: '' },
  { tenant: 'acme', agent: 'coder', session: 'a\0b', conversation: '\ud800' },
  { tenant: 'globex', agent: 'coder', session: 's-1', conversation: '' },
]
const OWNERS = ['one', 'other']
const TURNS = ['t0', 't1', 't2']

/** What a step knows of the store: the ids that the model has given, and the time, which grows with each step. */
interface Place {
  readonly model: StoreModel
  readonly now: number
}

/** A call of a store. Its answer must be the model's. */
interface Step {
  readonly name: string
  readonly run: (store: Store, place: Place) => Awaitable<unknown>
}

function step<T>(name: string, given: fc.Arbitrary<T>, run: (store: Store, given: T, place: Place) => unknown) {
  return given.map((value): Step & { toString(): string } => ({
    name,
    run: (store, place) => run(store, value, place) as Awaitable<unknown>,
    toString: () => `${name} ${JSON.stringify(value)}`,
  }))
}

const idOf = (at: number, { model }: Place): Id => model.findSession(KEYS[at]!)?.id ?? 'none'

/** The owner's lease, or one that it had before. */
const leaseOf = (owner: string, stale: boolean, { model }: Place): LeaseRef => {
  const epoch = model.leases.find((lease) => lease.owner === owner)?.epoch ?? 0
  return { owner, epoch: stale ? epoch - 1 : epoch }
}

const key = fc.nat({ max: KEYS.length - 1 })
const turn = fc.constantFrom(...TURNS)
const owner = fc.constantFrom(...OWNERS)
const lease = fc.tuple(owner, fc.boolean())
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  parts: fc.tuple(fc.record({ type: fc.constant('text' as const), text })),
  at: fc.nat(9),
})
/** The engine's keys and digests are plain. */
const claimKey = fc.constantFrom('["acme","k"]', '["acme","\\ud800"]')
const usage = fc.record({ input: fc.nat(9), output: fc.nat(9) }, { requiredKeys: [] })

const begun = fc.record({
  turn,
  key,
  lease,
  request: fc.option(text, { nil: undefined }),
  age: fc.nat(9),
})

type Begun = typeof begun extends fc.Arbitrary<infer T> ? T : never

function recordOf({ turn, key, lease: [owner, stale], request, age }: Begun, place: Place): TurnRecord {
  const { tenant, agent } = KEYS[key]!
  return {
    turn,
    session: idOf(key, place),
    tenant,
    agent,
    front: 'zene',
    ...leaseOf(owner, stale, place),
    ...(request !== undefined && { request }),
    startedAt: place.now - age,
    delivered: false,
  }
}

const end = fc.record({
  outcome: fc.constantFrom('completed' as const, 'failed' as const, 'cancelled' as const),
  code: fc.constantFrom(undefined, 'timeout', 'overloaded', 'session-busy'),
  usage: fc.option(usage, { nil: undefined }),
  loses: fc.boolean(),
  messages: fc.array(message, { maxLength: 2 }),
  events: fc.boolean(),
  known: fc.constantFrom(undefined, 'digest'),
  delivered: fc.boolean(),
  error: fc.option(text, { nil: undefined }),
  wire: fc.boolean(),
  spent: fc.option(
    fc.record({ day: fc.constantFrom(0, 10), tokens: fc.nat(9), estimated: fc.nat(9), costUsd: fc.nat(9) }),
    {
      nil: undefined,
    },
  ),
})

const block = fc.record({ turn, seq: fc.integer({ min: 1, max: 6 }), lines: text.map((one) => JSON.stringify(one)) })

const page = fc.record(
  {
    tenant: fc.constantFrom('acme', 'globex'),
    agent: fc.constantFrom('coder', 'other'),
    text: fc.constantFrom('s-1', 'T1', 'a', 'zz'),
    limit: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ['limit'] },
)
const turnConditions = fc.record(
  {
    front: fc.constantFrom('zene', 'zot'),
    state: fc.constantFrom('running' as const, 'completed' as const, 'failed' as const),
    session: fc.constantFrom('s-1', 'K1', 'a\0b'),
  },
  { requiredKeys: [] },
)

const STEPS = {
  openSession: step('openSession', key, (store, at, { now }) => store.openSession(KEYS[at]!, `S${now}`, now)),
  findSession: step('findSession', key, (store, at) => store.findSession(KEYS[at]!)),
  heardBy: step('heardBy', key, (store, at, place) => store.heardBy(idOf(at, place))),
  listSessions: step('listSessions', fc.tuple(page, fc.boolean()), (store, [given, after], place) => {
    const before = after ? place.model.sessions.at(-1)?.id : undefined
    return store.listSessions({ ...given, ...(before !== undefined && { before }) })
  }),
  bindSession: step('bindSession', fc.tuple(key, fc.option(text, { nil: undefined })), (store, [at, bound], place) =>
    store.bindSession(idOf(at, place), bound),
  ),
  setSession: step(
    'setSession',
    fc.tuple(
      key,
      fc.record(
        { model: text, mode: text, title: text, options: fc.dictionary(fc.constantFrom('a', 'b'), fc.boolean()) },
        { requiredKeys: [] },
      ),
    ),
    (store, [at, settings], place) => store.setSession(idOf(at, place), settings),
  ),
  clearSession: step('clearSession', key, (store, at, place) => store.clearSession(idOf(at, place), place.now)),
  touchSession: step('touchSession', fc.tuple(key, fc.nat(30)), (store, [at, back], place) =>
    store.touchSession(idOf(at, place), place.now - back),
  ),
  usageOf: step('usageOf', key, (store, at, place) => store.usageOf(idOf(at, place))),
  deleteSession: step('deleteSession', key, (store, at, place) => store.deleteSession(idOf(at, place))),
  appendMessage: step('appendMessage', fc.tuple(key, message), (store, [at, said], place) =>
    store.appendMessage(idOf(at, place), said),
  ),
  readMessages: step('readMessages', key, (store, at, place) => store.readMessages(idOf(at, place))),
  readMessagesUntil: step('readMessages until', fc.tuple(key, turn), (store, [at, until], place) => {
    const id = idOf(at, place)
    const own = place.model.ended.some(({ record }) => record.session === id && record.turn === until)
    return own ? store.readMessages(id, until) : undefined
  }),
  beginTurn: step(
    'beginTurn',
    fc.tuple(begun, fc.option(claimKey, { nil: undefined })),
    (store, [given, claim], place) => {
      const over = place.model.ended.some(({ record }) => record.turn === given.turn)
      return over ? undefined : store.beginTurn(recordOf(given, place), claim)
    },
  ),
  endTurn: step('endTurn', fc.tuple(begun, end), (store, [given, over], place) => {
    const { outcome, code, usage: told, loses, messages, events, known, delivered, spent, error } = over
    const record: TurnRecord = {
      ...recordOf(given, place),
      endedAt: place.now,
      outcome,
      ...(code !== undefined && { code }),
      delivered,
      ...(loses && { losses: [{ kind: 'dropped', item: 'usage', why: 'no-place', count: 1, side: 'client' }] }),
      measures: { back: 'zot', timings: {}, ...(told && { usage: told }), ...(error !== undefined && { error }) },
    }
    const additions: TurnAdditions = {
      messages,
      ...(events && { events: { turn: given.turn, seq: 7, lines: '"last"' } }),
      ...(known !== undefined && { known }),
      ...(spent && { spent }),
      ...(over.wire && { wire: '{"frame":1}' }),
    }
    return store.endTurn(record, additions)
  }),
  findKnown: step('findKnown', fc.integer({ min: 1, max: 4 }), (store, limit) => store.findKnown('digest', limit)),
  markDelivered: step('markDelivered', turn, (store, one) => store.markDelivered(one)),
  readTurn: step('readTurn', turn, (store, one) => store.readTurn(one)),
  readTurnMessages: step('readTurnMessages', turn, (store, one) => store.readTurnMessages(one)),
  deleteTurn: step('deleteTurn', turn, (store, one) => store.deleteTurn(one)),
  listTurns: step('listTurns', fc.tuple(page, turnConditions, fc.option(turn, { nil: undefined })), (store, given) => {
    const [one, conditions, before] = given
    return store.listTurns({ ...one, ...conditions, ...(before !== undefined && { before }) })
  }),
  readWire: step('readWire', turn, (store, one) => store.readWire(one)),
  unfinishedTurns: step('unfinishedTurns', fc.option(key, { nil: undefined }), (store, at, place) =>
    store.unfinishedTurns(at === undefined ? undefined : idOf(at, place)),
  ),
  lostTurns: step('lostTurns', fc.nat(9), (store, later, { now }) => store.lostTurns(now + later)),
  takeLease: step('takeLease', fc.tuple(owner, fc.nat(60)), (store, [one, ms], { now }) =>
    store.takeLease(one, now, now + ms),
  ),
  renewLease: step('renewLease', fc.tuple(lease, fc.nat(60)), (store, [[one, stale], ms], place) =>
    store.renewLease(leaseOf(one, stale, place), place.now + ms),
  ),
  lapseLease: step('lapseLease', lease, (store, [one, stale], place) =>
    store.lapseLease(leaseOf(one, stale, place), place.now, 15),
  ),
  hasOtherLease: step('hasOtherLease', owner, (store, one, { now }) => store.hasOtherLease(one, now)),
  dropLease: step('dropLease', lease, (store, [one, stale], place) => store.dropLease(leaseOf(one, stale, place))),
  appendEvents: step('appendEvents', fc.array(block, { maxLength: 3 }), (store, blocks) => store.appendEvents(blocks)),
  readEvents: step('readEvents', fc.tuple(turn, fc.nat(7)), (store, [one, after]) => store.readEvents(one, after)),
  spentOf: step('spentOf', fc.constantFrom(0, 10), (store, day) => store.spentOf('acme', day)),
  takePlace: step('takePlace', fc.tuple(turn, lease, fc.nat(2)), (store, [one, [of, stale], most], place) =>
    store.takePlace({ turn: one, tenant: 'acme', ...leaseOf(of, stale, place) }, most),
  ),
  givePlace: step('givePlace', turn, (store, one) => store.givePlace(one)),
  shareCounts: step(
    'shareCounts',
    fc.tuple(owner, fc.dictionary(fc.constantFrom('ops', 'web'), fc.nat(9))),
    (store, [process, counts], { now }) => store.shareCounts(process, new Map(Object.entries(counts)), now),
  ),
  claim: step(
    'claim',
    fc.tuple(claimKey, turn, fc.constantFrom('body', 'other'), fc.nat(60)),
    (store, [one, of, body, ttl], { model, now }) =>
      // No turn claims its key twice.
      model.claims.get(one)?.turn === of ? undefined : store.claim(one, of, body, now, ttl),
  ),
  reclaim: step(
    'reclaim',
    fc.tuple(claimKey, fc.constantFrom('any', 'holder', 'other'), fc.boolean()),
    (store, [one, from, ended], { model, now }) => {
      const turn = from === 'holder' ? (model.claims.get(one)?.turn ?? 'none') : from
      return store.reclaim(one, `c${now}`, 'again', now, from === 'any' ? undefined : { turn, ended })
    },
  ),
  release: step('release', fc.tuple(claimKey, turn), (store, [one, of]) => store.release(one, of)),
  prune: step('prune', fc.nat(60), (store, back, { now }) => store.prune(now - back, 99)),
} as const

/** Steps that have to do with each other. */
const GROUPS: Readonly<Record<string, readonly (keyof typeof STEPS)[]>> = {
  sessions: [
    'openSession',
    'findSession',
    'listSessions',
    'bindSession',
    'setSession',
    'clearSession',
    'touchSession',
    'deleteSession',
  ],
  transcripts: [
    'deleteTurn',
    'readTurnMessages',
    'appendMessage',
    'readMessages',
    'readMessagesUntil',
    'endTurn',
    'clearSession',
    'prune',
    'deleteSession',
  ],
  turns: [
    'readWire',
    'deleteTurn',
    'beginTurn',
    'endTurn',
    'readTurn',
    'listTurns',
    'unfinishedTurns',
    'markDelivered',
    'findSession',
    'heardBy',
    'deleteSession',
  ],
  ends: ['deleteTurn', 'endTurn', 'usageOf', 'findKnown', 'heardBy', 'clearSession', 'appendMessage', 'prune'],
  events: ['takeLease', 'dropLease', 'deleteTurn', 'beginTurn', 'appendEvents', 'readEvents', 'endTurn', 'prune'],
  leases: ['beginTurn', 'takeLease', 'renewLease', 'lapseLease', 'hasOtherLease', 'dropLease', 'lostTurns', 'prune'],
  uses: [
    'endTurn',
    'spentOf',
    'takeLease',
    'takePlace',
    'givePlace',
    'dropLease',
    'shareCounts',
    'prune',
    'deleteTurn',
  ],
  claims: ['claim', 'reclaim', 'release', 'prune', 'openSession', 'beginTurn', 'endTurn'],
}

/** Everything that a store answers about a place, after all steps. */
async function everything(store: Store, place: Place): Promise<unknown> {
  const ids = KEYS.map((_, at) => idOf(at, place))
  const events = (one: Id): Awaitable<EventBlock[]> => store.readEvents(one, 0)
  return {
    sessions: [await store.listSessions({ tenant: 'acme', limit: 9 }), await store.listSessions({ limit: 9 })],
    messages: await Promise.all(ids.map((id) => store.readMessages(id))),
    usages: await Promise.all(ids.map((id) => store.usageOf(id))),
    turns: [
      'readWire',
      'deleteTurn',
      await store.listTurns({ tenant: 'acme', limit: 9 }),
      await store.listTurns({ limit: 9 }),
    ],
    events: await Promise.all(TURNS.map(events)),
  }
}

/** Any calls give the answers that the plain model gives. `open` gives an empty store. */
export function storeFollowsModel(open: () => Awaitable<Store>, runs: { numRuns: number }): void {
  it.each(Object.entries(GROUPS))('answers any calls about %s as the model does', async (_, names) => {
    const step = fc.oneof(...names.map((name) => STEPS[name] as fc.Arbitrary<Step>))
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([0, 1, 2], { minLength: 1 }),
        fc.array(step, { maxLength: 30, size: 'max' }),
        (opened, steps) => answersAlike(open, opened, steps),
      ),
      runs,
    )
  })
}

/** Gives the same calls to a store and to the model. `opened` are the sessions that there are before. */
async function answersAlike(
  open: () => Awaitable<Store>,
  opened: readonly number[],
  steps: readonly Step[],
): Promise<void> {
  const store = await open()
  const model = new StoreModel()
  try {
    for (const at of opened) for (const one of [store, model]) await one.openSession(KEYS[at]!, `K${at}`, at + 1)
    for (const [at, { name, run }] of steps.entries()) {
      const place = { model, now: 10 * (at + 1) }
      const answer = await run(store, place)
      expect([name, answer]).toEqual([name, run(model, place)])
    }
    const place = { model, now: 10 * (steps.length + 1) }
    expect(await everything(store, place)).toEqual(await everything(model, place))
  } finally {
    await store.close()
  }
}
