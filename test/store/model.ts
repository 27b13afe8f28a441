import type {
  Claim,
  DaySpent,
  EventBlock,
  HeardBy,
  Holder,
  LastTurn,
  LeaseRef,
  Listed,
  ListedTurn,
  Page,
  RequestCount,
  SessionKey,
  SessionRecord,
  SessionSettings,
  Spent,
  Store,
  TurnAdditions,
  TurnPage,
  TurnPlace,
  TurnRecord,
} from '../../src/contract/index.ts'
import { addUsage, type Id, type Message, type Usage } from '../../src/model/index.ts'
import { keyValues } from '../../src/store/key-text.ts'

type Session = Omit<SessionRecord, 'last'>
type Ended = Omit<TurnAdditions, 'spent'> & {
  record: TurnRecord
  position: number
  usage: Usage | undefined
  deleted?: true
}
type Said = { place: number; messages: readonly Message[] }

/** Codes of turns that no agent has taken. */
const UNTAKEN = ['agent-unavailable', 'overloaded', 'session-busy', 'session-not-found']

const DAY_MS = 86_400_000
const RECLAIM_TTL_MS = DAY_MS

const keyText = (key: SessionKey): string => JSON.stringify(keyValues(key))

const last = <T>(values: readonly T[], orders: (one: T, other: T) => number): T | undefined =>
  [...values].sort(orders).at(-1)

const byStart = (one: TurnRecord, other: TurnRecord): number =>
  one.startedAt - other.startedAt || (one.turn < other.turn ? -1 : 1)

const within = (text: string, values: readonly string[]): boolean => values.includes(text)

/** True when one of the texts has the other in it, in letters of either case. */
function holds(texts: readonly (string | undefined)[], text: string | undefined): boolean {
  return text === undefined || texts.some((one) => one?.toLowerCase().includes(text.toLowerCase()))
}

function pageOf<T>(
  all: readonly T[],
  idOf: (one: T) => Id,
  fits: (one: T) => boolean,
  before: Id | undefined,
  limit: number,
): Listed<T> | undefined {
  const from = before === undefined ? -1 : all.findIndex((one) => idOf(one) === before)
  if (before !== undefined && from < 0) return undefined
  const after = all.slice(from + 1).filter(fits)
  const rows = after.slice(0, limit)
  return { rows, ...(after.length > limit && { next: idOf(rows.at(-1)!) }) }
}

/** What a store has to do, written as plainly as possible: collections, and no thought for time or space. */
export class StoreModel implements Store {
  sessions: Session[] = []
  running: TurnRecord[] = []
  ended: Ended[] = []
  readonly #forgotten = new Set<string>()
  readonly #usages = new Map<Id, Usage>()
  readonly #between = new Map<Id, Said[]>()
  #events: EventBlock[] = []
  leases: (LeaseRef & { expiresAt: number; lastCall: boolean })[] = []
  #spent: { tenant: string; spent: DaySpent }[] = []
  #places: TurnPlace[] = []
  #counts: (RequestCount & { at: number })[] = []
  claims = new Map<string, { turn: Id; body: string; at: number; expiresAt: number }>()

  commit(): void {}
  probe(): void {}
  close(): void {}

  openSession(key: SessionKey, id: Id, now: number): SessionRecord {
    const known = this.sessions.find((one) => keyText(one) === keyText(key))
    if (known) known.usedAt = Math.max(known.usedAt, now)
    const epoch = this.#forgotten.has(keyText(key)) ? { epoch: Math.max(1, now) } : {}
    const session = known ?? { ...key, id, createdAt: now, usedAt: now, ...epoch }
    if (!known) this.sessions.push(session)
    return this.#record(session)
  }

  findSession(key: SessionKey): SessionRecord | undefined {
    const session = this.sessions.find((one) => keyText(one) === keyText(key))
    return session && this.#record(session)
  }

  readSession(id: Id): SessionRecord | undefined {
    const session = this.#session(id)
    return session && this.#record(session)
  }

  heardBy(id: Id): HeardBy | undefined {
    const { epoch = 0 } = this.#session(id) ?? {}
    const isNew = ({ session, startedAt }: TurnRecord): boolean => session === id && startedAt >= epoch
    const said = (this.#between.get(id) ?? []).flatMap(({ messages }) => messages)
    const taken = this.ended.filter(({ record }) => isNew(record) && !within(record.code ?? '', UNTAKEN))
    const [last] = taken
      .filter(({ record, deleted }) => record.measures && !deleted)
      .sort((a, b) => b.position - a.position)
    if (!this.running.some(isNew) && taken.length === 0 && !said.some(({ role }) => role !== 'user')) return undefined
    const { back, place } = last?.record.measures ?? {}
    return { ...(back !== undefined && { back }), ...(place !== undefined && { place }) }
  }

  listSessions({ tenant, agent, text, before, limit }: Page): Listed<SessionRecord> | undefined {
    const own = this.sessions.filter((session) => tenant === undefined || session.tenant === tenant)
    own.sort((one, other) => other.usedAt - one.usedAt || (one.id < other.id ? 1 : -1))
    const fits = (one: Session): boolean =>
      (agent === undefined || one.agent === agent) && holds([one.id, one.session, one.settings?.title], text)
    const page = pageOf(own, (one) => one.id, fits, before, limit)
    return page && { ...page, rows: page.rows.map((session) => this.#record(session)) }
  }

  bindSession(id: Id, bound: string | undefined): void {
    const session = this.#session(id)
    if (!session) return
    delete session.bound
    if (bound !== undefined) session.bound = bound
  }

  setSession(id: Id, settings: SessionSettings): boolean {
    const session = this.#session(id)
    if (!session) return true
    const { options = session.settings?.options } = settings
    const merged = options && { options: { ...session.settings?.options, ...options } }
    session.settings = { ...session.settings, ...settings, ...merged }
    return true
  }

  clearSession(id: Id, now: number): number | undefined {
    const session = this.#session(id)
    if (!session) return undefined
    session.epoch = Math.max(now, (session.epoch ?? 0) + 1)
    delete session.bound
    this.#between.delete(id)
    for (const turn of this.ended) if (turn.record.session === id) delete turn.messages
    return session.epoch
  }

  touchSession(id: Id, now: number): void {
    const session = this.#session(id)
    if (session) session.usedAt = Math.max(session.usedAt, now)
  }

  usageOf(id: Id): Usage | undefined {
    const kept = this.#usages.get(id)
    const told = this.#endedIn(id).flatMap(({ usage }) => usage ?? [])
    const usages = [...(kept ? [kept] : []), ...told]
    return usages.length === 0 ? undefined : usages.reduce(addUsage)
  }

  deleteSession(id: Id): boolean {
    const session = this.#session(id)
    if (!session) return true
    this.#forgotten.add(keyText(session))
    this.sessions = this.sessions.filter((one) => one !== session)
    const gone = [...this.running, ...this.ended.map(({ record }) => record)]
      .filter((turn) => turn.session === id)
      .map(({ turn }) => turn)
    this.#events = this.#events.filter(({ turn }) => !within(turn, gone))
    this.running = this.running.filter((turn) => turn.session !== id)
    this.ended = this.ended.filter(({ record }) => record.session !== id)
    this.#between.delete(id)
    this.#usages.delete(id)
    return true
  }

  appendMessage(id: Id, message: Message): void {
    if (this.#session(id)) this.#say(id, { place: this.#lastPosition(id) + 0.5, messages: [message] })
  }

  readMessages(id: Id, until?: Id): Message[] {
    const said = [
      ...(this.#between.get(id) ?? []),
      ...this.#endedIn(id).map(({ position, messages = [] }) => ({ place: position, messages })),
    ]
    const end = until === undefined ? Infinity : (this.#ended(until)?.position ?? -1)
    said.sort((one, other) => one.place - other.place)
    return said.flatMap(({ place, messages }) => (place <= end ? messages : []))
  }

  beginTurn(turn: TurnRecord, claim = ''): boolean {
    if ((this.claims.get(claim)?.turn ?? turn.turn) !== turn.turn) return false
    if (!this.#session(turn.session)) return true
    const known = this.running.find((one) => one.turn === turn.turn)
    if (known) Object.assign(known, { session: turn.session, agent: turn.agent })
    else this.running.push({ ...turn })
    return true
  }

  endTurn(turn: TurnRecord, additions: TurnAdditions = {}): boolean {
    this.running = this.running.filter((one) => one.turn !== turn.turn)
    if (!this.#session(turn.session) || this.#ended(turn.turn)) return this.#kept(turn.turn) === undefined
    const position = this.#lastPosition(turn.session) + 1
    const { spent, ...rest } = additions
    this.ended.push({ record: { ...turn }, ...rest, position, usage: turn.measures?.usage })
    if (spent) this.#spent.push({ tenant: turn.tenant, spent })
    return true
  }

  findKnown(known: string, limit: number): Id[] {
    const found = this.ended.filter(
      (turn) => turn.known === known && turn === this.#endedIn(turn.record.session).at(-1),
    )
    return found
      .map(({ record }) => record.turn)
      .reverse()
      .slice(0, limit)
  }

  markDelivered(turn: Id): void {
    const ended = this.#ended(turn)
    if (ended) ended.record.delivered = true
  }

  readTurn(turn: Id): TurnRecord | undefined {
    const found = this.#kept(turn)?.record ?? this.running.find((one) => one.turn === turn)
    return found && { ...found }
  }

  readTurnMessages(turn: Id): Message[] | undefined {
    const kept = this.#kept(turn)
    return kept && [...(kept.messages ?? [])]
  }

  deleteTurn(turn: Id): boolean {
    const ended = this.#ended(turn)
    if (!ended) return false
    const { code: _, ...record } = ended.record
    const gone: Ended = { record, position: ended.position, usage: ended.usage, deleted: true }
    this.ended = this.ended.map((one) => (one === ended ? gone : one))
    this.#events = this.#events.filter((block) => block.turn !== turn)
    return true
  }

  readWire(turn: Id): string | undefined {
    return this.#ended(turn)?.wire
  }

  listTurns({ tenant, agent, front, state, session, text, before, limit }: TurnPage): Listed<ListedTurn> | undefined {
    const all = [...this.running, ...this.ended.map(({ record }) => record)]
    const own = all.filter((turn) => tenant === undefined || turn.tenant === tenant)
    const named = own.map((turn) => ({ ...turn, named: this.#session(turn.session)!.session }))
    // A page may begin after a turn that was deleted since.
    const fits = (one: ListedTurn): boolean =>
      !this.#ended(one.turn)?.deleted &&
      (agent === undefined || one.agent === agent) &&
      (front === undefined || one.front === front) &&
      (state === undefined || (one.outcome ?? 'running') === state) &&
      (session === undefined || one.session === session || one.named === session) &&
      holds([one.turn, one.request, one.named, one.measures?.error], text)
    return pageOf(named.sort(byStart).reverse(), (one) => one.turn, fits, before, limit)
  }

  unfinishedTurns(session?: Id): TurnRecord[] {
    return this.running.filter((turn) => session === undefined || turn.session === session).sort(byStart)
  }

  lostTurns(now: number): TurnRecord[] {
    return this.unfinishedTurns().filter((turn) => (this.#lease(turn)?.expiresAt ?? 0) <= now)
  }

  takeLease(owner: string, now: number, expiresAt: number): number {
    const before = this.leases.find((lease) => lease.owner === owner)
    const epoch = Math.max(now, before ? before.epoch + 1 : 0)
    this.leases = this.leases.filter((lease) => lease !== before)
    this.leases.push({ owner, epoch, expiresAt, lastCall: false })
    return epoch
  }

  renewLease(ref: LeaseRef, expiresAt: number): boolean {
    const lease = this.#lease(ref)
    if (lease) Object.assign(lease, { expiresAt, lastCall: false })
    return lease !== undefined
  }

  lapseLease(ref: LeaseRef, now: number, lastCallMs: number): boolean {
    const lease = this.#lease(ref)
    if (!lease || lease.expiresAt > now) return !lease
    if (lease.lastCall) this.dropLease(ref)
    else Object.assign(lease, { expiresAt: now + lastCallMs, lastCall: true })
    return this.#lease(ref) === undefined
  }

  hasOtherLease(owner: string, now: number): boolean {
    return this.leases.some((lease) => lease.owner !== owner && lease.expiresAt > now)
  }

  dropLease(ref: LeaseRef): void {
    const gone = this.#lease(ref)
    this.leases = this.leases.filter((lease) => lease !== gone)
  }

  appendEvents(blocks: readonly EventBlock[]): void {
    for (const block of blocks) {
      const runs = this.running.some((one) => one.turn === block.turn && this.#lease(one))
      const is = this.#events.some(({ turn, seq }) => turn === block.turn && seq === block.seq)
      if (runs && !is) this.#events.push({ ...block })
    }
  }

  readEvents(turn: Id, after: number): EventBlock[] {
    const all = this.#events.filter((block) => block.turn === turn)
    const before = all.filter(({ seq }) => seq <= after + 1).map(({ seq }) => seq)
    const first = before.length === 0 ? 0 : Math.max(...before)
    const atEnd = this.#ended(turn)?.events
    const found = [...all.filter(({ seq }) => seq >= first), ...(atEnd ? [atEnd] : [])]
    return found.map(({ seq, lines }) => ({ turn, seq, lines })).sort((one, other) => one.seq - other.seq)
  }

  spentOf(tenant: string, day: number): Spent {
    const own = this.#spent.filter((one) => one.tenant === tenant && one.spent.day === day)
    const sum = { tokens: 0, estimated: 0, costUsd: 0 }
    for (const { spent } of own) for (const key of ['tokens', 'estimated', 'costUsd'] as const) sum[key] += spent[key]
    return sum
  }

  takePlace(place: TurnPlace, most: number): boolean {
    if (this.#places.some(({ turn }) => turn === place.turn)) return true
    const own = this.#places.filter((one) => one.tenant === place.tenant && this.#lease(one))
    if (own.length >= most) return false
    this.#places.push(place)
    return true
  }

  givePlace(turn: Id): void {
    this.#places = this.#places.filter((place) => place.turn !== turn)
  }

  shareCounts(process: Id, counts: ReadonlyMap<string, number>, now: number): RequestCount[] {
    for (const [name, count] of counts) {
      this.#counts = this.#counts.filter((one) => one.process !== process || one.name !== name)
      this.#counts.push({ process, name, count, at: now })
    }
    const others = this.#counts.filter((one) => one.process !== process)
    others.sort((one, other) => (one.process + one.name < other.process + other.name ? -1 : 1))
    return others.map(({ process: of, name, count }) => ({ process: of, name, count }))
  }

  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Claim {
    const held = this.claims.get(key)
    if (held && held.expiresAt > now) return { state: 'held', turn: held.turn, body: held.body }
    this.claims.set(key, { turn, body, at: now, expiresAt: now + ttlMs })
    return { state: 'new' }
  }

  reclaim(key: string, turn: Id, body: string, now: number, from?: Holder): Claim {
    const held = this.claims.get(key)
    const { isRunning, hasEnded } = this.#recorded(held?.turn)
    if (held && (isRunning || (from && (held.turn !== from.turn || (hasEnded && !from.ended)))))
      return { state: 'held', turn: held.turn, body: held.body }
    const life = held ? held.expiresAt - held.at : RECLAIM_TTL_MS
    this.claims.set(key, { turn, body, at: now, expiresAt: now + life })
    return { state: 'new' }
  }

  release(key: string, turn: Id): void {
    const { isRunning, hasEnded } = this.#recorded(turn)
    if (this.claims.get(key)?.turn === turn && !isRunning && !hasEnded) this.claims.delete(key)
  }

  #recorded(turn: Id | undefined): { isRunning: boolean; hasEnded: boolean } {
    return {
      isRunning: this.running.some((one) => one.turn === turn),
      hasEnded: this.ended.some(({ record, deleted }) => record.turn === turn && !deleted),
    }
  }

  prune(before: number): number {
    this.claims = new Map([...this.claims].filter(([, { expiresAt }]) => expiresAt >= before))
    this.leases = this.leases.filter(({ expiresAt }) => expiresAt >= before)
    this.#places = this.#places.filter((place) => this.#lease(place))
    this.#counts = this.#counts.filter(({ at }) => at >= before - DAY_MS)
    this.#spent = this.#spent.filter(({ spent }) => spent.day >= before - DAY_MS)
    const old = this.ended.filter(({ record }) => record.endedAt! < before)
    for (const { record, messages = [], position, usage } of old) {
      if (messages.length > 0) this.#say(record.session, { place: position, messages })
      if (usage) this.#usages.set(record.session, addUsage(this.#usages.get(record.session) ?? {}, usage))
      this.#events = this.#events.filter(({ turn }) => turn !== record.turn)
    }
    this.ended = this.ended.filter((turn) => !old.includes(turn))
    return old.length
  }

  #session(id: Id): Session | undefined {
    return this.sessions.find((session) => session.id === id)
  }

  #ended(turn: Id): Ended | undefined {
    return this.ended.find(({ record }) => record.turn === turn)
  }

  #kept(turn: Id): Ended | undefined {
    const ended = this.#ended(turn)
    return ended?.deleted ? undefined : ended
  }

  #endedIn(id: Id): Ended[] {
    return this.ended.filter(({ record }) => record.session === id)
  }

  #lease({ owner, epoch }: LeaseRef): (LeaseRef & { expiresAt: number; lastCall: boolean }) | undefined {
    return this.leases.find((lease) => lease.owner === owner && lease.epoch === epoch)
  }

  #say(id: Id, said: Said): void {
    this.#between.set(id, [...(this.#between.get(id) ?? []), said])
  }

  /** The place of the newest turn or message of a session. */
  #lastPosition(id: Id): number {
    const places = [...(this.#between.get(id) ?? []).map(({ place }) => Math.floor(place)), 0]
    return Math.max(...places, ...this.#endedIn(id).map(({ position }) => position))
  }

  #record(session: Session): SessionRecord {
    const runs = last(
      this.running.filter((turn) => turn.session === session.id),
      byStart,
    )
    const over = this.#endedIn(session.id).at(-1)?.record
    const turn = runs ?? over
    const found: { last?: LastTurn } = turn ? { last: { turn: turn.turn, owner: turn.owner, ended: !runs } } : {}
    return { ...session, ...(session.settings && { settings: { ...session.settings } }), ...found }
  }
}
