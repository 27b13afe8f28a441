import type { Route, SessionKey, SessionRecord, SessionSettings, Store, TurnInfo } from '../../contract/index.ts'
import { type Command, type Fault, fault, type Id, type TurnStart, textOf } from '../../model/index.ts'
import type { Breakers } from '../agent/index.ts'
import { refusalFor, steeringLosses } from '../carry/index.ts'
import type { ClientLink, Exchange } from '../client/index.ts'
import { type AgentSettings, type EngineSettings, limitsOf, steadyFrom, UNWRITABLE } from '../common/index.ts'
import { cancelledTurn } from '../events/index.ts'
import {
  Idempotency,
  type Keyed,
  needsRecord,
  type Recorder,
  type StoreWatch,
  showPast,
  tellUnrecorded,
} from '../record/index.ts'
import type { LiveSession, LiveTurns, Sessions, Watches } from '../session/index.ts'
import { Turn, TurnClock, type TurnOwner } from '../turn/index.ts'
import { mayUse, type RouteChoice } from './router.ts'

const CONFLICT = fault(
  'idempotency-conflict',
  'Another request has this id or idempotency key: it differs in more than the attempt. Send this one under a new one.',
)

/** Dependencies of admission. */
export interface AdmissionParts {
  store: Store
  sessions: Sessions
  turns: LiveTurns
  recorder: Recorder
  watch: StoreWatch
  breakers: Breakers
  owner: TurnOwner
  /** Clients that follow every turn. */
  watches: Watches
  settings(): EngineSettings
  newId(): Id
}

/** A request for a turn, on its way in. */
interface Entry {
  client: ClientLink
  command: Command & TurnStart
  exchange: Exchange
  choice: RouteChoice
  /** The session's id as the client knows it. */
  session: string
}

/**
 * From a `turn-start` to a turn in its session's line: what would be lost, once only, a place, an agent that can be
 * used. Whatever speaks against it ends the exchange with the fault that says so.
 */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #idempotency: Idempotency

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#idempotency = new Idempotency(parts.store, () => parts.owner.now(), parts.turns)
  }

  /** Takes the turn, or joins it to one that runs, or answers it from the record. */
  async start(client: ClientLink, asked: Command & TurnStart, choice: RouteChoice, exchange: Exchange): Promise<void> {
    const { store, owner, watch } = this.#parts
    const why = refusalFor(client.options.dialect, asked, choice.agent, choice.route)
    if (why) return exchange.fail(why)
    const session = asked.session?.id ?? this.#parts.newId()
    const command = { ...asked, options: optionsFor(asked, choice.agent), session: { ...asked.session, id: session } }
    const entry = { client, command, exchange, choice, session }
    const at = owner.now()
    const promised = needsRecord(command, exchange)
    if (promised && !(watch.writable || (await watch.ready()))) return exchange.fail(UNWRITABLE)
    const record = await this.#record(entry, choice.agent, at)
    if (promised && !watch.writable) return exchange.fail(UNWRITABLE)
    // Whether the key's last answer has reached its client decides.
    if (command.once) this.#parts.recorder.markDelivered()
    const verdict = await this.#idempotency
      .claim(keyed(entry), () => exchange.unwanted)
      .catch((error: unknown) => watch.failed(error))
    if (exchange.ended) return
    if (!verdict) return exchange.fail(UNWRITABLE)
    if (verdict.do === 'stop') return exchange.fail(cancelledTurn(command.turn).fault!)
    if (verdict.do === 'refuse') return exchange.fail(CONFLICT)
    if (verdict.do === 'join') {
      client.scope.shares?.('joined', verdict.turn.scope.carrier)
      await verdict.turn.join(exchange, 0)
      exchange.settleCancel()
    } else if (verdict.do === 'replay') {
      const past = await store.readTurn(verdict.turn)
      if (!past) return exchange.fail(fault('internal', 'The record of the first answer is gone; use a new key.'))
      client.scope.shares?.('replayed', undefined)
      exchange.replays = true
      const shown = { record: past, session, after: 0, request: command.request }
      await showPast({ store, now: () => owner.now() }, shown, exchange)
    } else {
      const parked = exchange.answer.form === 'accepted' ? undefined : this.#parts.sessions.get(record.id)?.running
      if (parked?.asks.parked && exchange.answer.asks === 'next-request') await this.#askAgain(parked, entry)
      else await this.#begin(entry, record, await this.#isUsed(record, at))
    }
  }

  /**
   * A request comes without the token of the park that its session is in. It answers what is asked when its text is the
   * id of an option, else its client is asked again. No turn of its own begins: it would wait for the parked one.
   */
  async #askAgain(turn: Turn, entry: Entry): Promise<void> {
    const { client, command, exchange } = entry
    const { continuation, seq, asks } = turn.asks.parked!
    client.scope.shares?.('answered', turn.scope.carrier)
    await this.#idempotency.giveUp(keyed(entry))
    await turn.join(exchange, seq)
    if (exchange.ended) return
    const by = `client ${client.options.context.principal ?? client.options.tenant}`
    const reply = { kind: 'approval', option: textOf(command.input).trim() } as const
    const [first] = asks
    turn.answer({ exchange: exchange.id, type: 'ask-reply', target: { continuation }, ask: first!.ask, reply }, by)
  }

  /** Puts a turn whose agent could not be used in line for its new one. */
  async move(turn: Turn, client: Pick<SessionRecord, 'tenant'>): Promise<void> {
    const { store, sessions, turns, watch } = this.#parts
    const at = this.#parts.owner.now()
    const { id = '', conversation = '' } = turn.command.session ?? {}
    const key = { tenant: client.tenant, agent: turn.agent.name, session: id, conversation }
    const record = await this.#open(key, at)
    const used = await this.#isUsed(record, at)
    if (watch.keeps(turn)) await store.moveTurn(turn.id, record.id, turn.agent.name)
    if (turn.ended) return
    const from = turns.sessionOf(turn)?.record.settings
    const session = sessions.open(record, turn.agent, used)
    await this.#inherit(session, from)
    const full = session.refusal(mayWait(turn.route, turn.agent))
    if (full) return turn.fail(full)
    turns.add(turn, session)
    session.enqueue(turn)
  }

  /** A mode that was set for one agent holds for the one that takes its turn: no turn runs in a weaker one. */
  async #inherit({ record }: LiveSession, from: SessionSettings | undefined): Promise<void> {
    if (from?.mode === undefined || from.mode === record.settings?.mode) return
    const { store, watch } = this.#parts
    record.settings = { ...record.settings, mode: from.mode }
    if (!watch.writable) return
    try {
      await store.setSession(record.id, { mode: from.mode })
    } catch (error) {
      watch.failed(error)
    }
  }

  async #begin(entry: Entry, record: SessionRecord, used: boolean): Promise<void> {
    const { sessions, breakers } = this.#parts
    const { client, exchange, choice, command } = entry
    const { route } = choice
    const others = this.#others(entry)
    const tried = [choice.agent, ...others]
    const agent = tried.find((candidate) => breakers.admit(candidate))
    if (!agent) return this.#refuse(entry, breakers.refusal(choice.agent))
    const own = agent === choice.agent
    const at = this.#parts.owner.now()
    const home = own ? record : await this.#record(entry, agent, at)
    const session = sessions.open(home, agent, own ? used : await this.#isUsed(home, at))
    if (!own) await this.#inherit(session, record.settings)
    const { running } = session
    if (running?.steerable && steers(route, command)) {
      breakers.release(agent)
      running.steer(exchange, command)
      return this.#claims(this.#idempotency.handOver(keyed(entry), running.id))
    }
    const full = session.refusal(mayWait(route, agent)) ?? this.#tooMany(client.options.tenant)
    if (full) {
      breakers.release(agent)
      return this.#refuse(entry, full)
    }
    await this.#run(entry, agent, others.slice(tried.indexOf(agent)), session)
  }

  /** The fault of a key that may not have another turn. */
  #tooMany(tenant: string): Fault | undefined {
    const most = this.#parts.settings().turnLimits?.get(tenant)
    return most !== undefined && this.#parts.turns.countOf(tenant) >= most ? tooMany(most) : undefined
  }

  /** No turn begins: who sends the same again is not taken for a duplicate. */
  async #refuse(entry: Entry, why: Fault): Promise<void> {
    entry.exchange.fail(why)
    await this.#claims(this.#idempotency.giveUp(keyed(entry)))
  }

  /** A write to the claims; when it fails, duplicates find out by the turn that is not there. */
  async #claims(written: Promise<void>): Promise<void> {
    await written.catch((error: unknown) => this.#parts.watch.failed(error))
  }

  async #run(entry: Entry, agent: AgentSettings, others: AgentSettings[], session: LiveSession): Promise<void> {
    const { turns, recorder, owner, watches, watch } = this.#parts
    const { client, command, exchange, choice } = entry
    const { tenant, front } = client.options
    const { route } = choice
    const info = infoOf(entry, agent)
    const scope = new TurnClock({
      inner: client.scope.turn(info),
      info,
      front,
      now: steadyFrom(owner.now()),
      changed: () => watches.changed(turn),
    })
    const turn: Turn = new Turn({ command, agent, others, route, session: entry.session, exchange, scope, owner })
    turns.add(turn, session)
    watches.changed(turn)
    watch.began(turn, needsRecord(command, exchange))
    const about = { session: session.record.id, tenant, front, at: turn.view.startedAt }
    await recorder.begin(turn, about).then(
      () => watch.begun(turn),
      (error: unknown) => watch.failed(error),
    )
    if (turn.ended) return
    turn.accept()
    if (!watch.keeps(turn)) tellUnrecorded(turn)
    if (!exchange.settleCancel()) session.enqueue(turn)
  }

  #record({ client, command, session }: Entry, agent: AgentSettings, at: number): Promise<SessionRecord> {
    const { tenant } = client.options
    const key = { tenant, agent: agent.name, session, conversation: command.session?.conversation ?? '' }
    return this.#open(key, at)
  }

  /** The record of a session. When nothing can be written one that is only in memory will do. */
  async #open(key: SessionKey, at: number): Promise<SessionRecord> {
    const { store, sessions, watch, newId } = this.#parts
    if (watch.writable) {
      try {
        return await store.openSession(key, newId(), at)
      } catch (error) {
        watch.failed(error)
      }
    }
    const known = sessions.find(key) ?? (await store.findSession(key))
    return known ?? { ...key, id: newId(), createdAt: at, usedAt: at }
  }

  /** True when the conversation has had turns before; sessions in memory know that themselves. */
  async #isUsed({ id, createdAt }: SessionRecord, at: number): Promise<boolean> {
    const { store, sessions } = this.#parts
    return createdAt !== at && !sessions.get(id) && (await store.isUsed(id))
  }

  /** The agents of the route's `fallback` that the client may use and that can do what it asks for. */
  #others({ client, command, choice: { route } }: Entry): AgentSettings[] {
    const { agents } = this.#parts.settings()
    const named = route.fallback.flatMap((name) =>
      mayUse(client.options.allowed, name) ? (agents.get(name) ?? []) : [],
    )
    return named.filter((agent) => refusalFor(client.options.dialect, command, agent, route) === undefined)
  }
}

/** Whose the request's key is: a client's of this protocol, in its session and conversation. */
function keyed({ client, command, choice, session }: Entry): Keyed {
  const { codec, tenant } = client.options
  const scope = JSON.stringify([tenant, codec.name, session, command.session?.conversation ?? ''])
  return { scope, agent: choice.agent.name, command }
}

function tooMany(most: number): Fault {
  const turns = most === 1 ? 'a turn' : `${most} turns`
  return fault('overloaded', `This key has ${turns} under way, which is all that it may; send this one when one ends.`)
}

/** A turn as observers see it. Its content is given only where its client calls it public, or does not say. */
function infoOf({ command, choice, session }: Entry, agent: AgentSettings): TurnInfo {
  const { model, systemPrompt } = command.options
  const { when, journal } = choice.route
  const asked = Object.entries(when).map(([fact, pattern]) => `${fact}=${pattern}`)
  const isPublic = journal === 'full' && (command.environment?.privacy ?? 'public') === 'public'
  return {
    turn: command.turn,
    agent: agent.name,
    back: agent.protocol,
    session,
    ...(model !== undefined && { model }),
    ...(asked.length > 0 && { route: asked.join(',') }),
    ...(isPublic && { content: { input: command.input, ...(systemPrompt !== undefined && { systemPrompt }) } }),
  }
}

/** True when a request for a turn goes to the running one: on a route that takes no losses, when all of it can. */
function steers({ busy, loss }: Route, command: Command & TurnStart): boolean {
  return busy === 'steer' && (loss !== 'strict' || steeringLosses(command).length === 0)
}

/** The number of turns that may wait for a session. */
function mayWait(route: Route, agent: AgentSettings): number {
  return route.busy === 'reject' ? 0 : limitsOf(agent, route).queue
}

/** A model that was only the agent's name in the client's words is no wish that the agent should hear. */
function optionsFor({ options, agent: named }: Command & TurnStart, agent: AgentSettings): TurnStart['options'] {
  const { model, ...rest } = options
  return named === agent.name && model === named ? rest : options
}
