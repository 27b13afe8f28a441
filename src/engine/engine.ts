import { randomBytes } from 'node:crypto'
import type { CallEnd, Hooks, RequestScope, Store } from '../contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type TurnEvent,
  type TurnStart,
} from '../model/index.ts'
import { ClientLink, type ClientOptions, type ClientOwner } from './client-link.ts'
import { type ControlCommand, Controls } from './controls.ts'
import type { EngineLog, EngineParts } from './engine-parts.ts'
import type { Exchange } from './exchange.ts'
import { Idempotency } from './idempotency.ts'
import type { LiveSession, SessionOwner } from './live-session.ts'
import { Recorder } from './recorder.ts'
import { recoverTurns } from './recovery.ts'
import { replay } from './replay.ts'
import { chooseAgent, type RouteChoice } from './router.ts'
import { Sessions } from './sessions.ts'
import type { EngineSettings } from './settings.ts'
import { Turn } from './turn.ts'
import type { TurnOwner } from './turn-init.ts'

/** For a command about a turn or a question that is over. */
const GONE = fault('invalid-request', 'It is not running or not open here; it has ended, or was answered already.')

/** The life of turns: takes clients' wires, routes their commands, runs turns on agents, keeps what must be kept. */
export class Engine implements ClientOwner, TurnOwner, SessionOwner {
  readonly #store: Store
  readonly #hooks: Hooks
  readonly #log: EngineLog
  readonly #recorder: Recorder
  readonly #sessions: Sessions
  readonly #controls: Controls
  readonly #idempotency: Idempotency
  readonly #turns = new Map<Id, Turn>()
  readonly #sessionOf = new Map<Turn, LiveSession>()
  readonly #clients = new Set<ClientLink>()
  readonly #idle: (() => void)[] = []
  readonly now: () => number
  settings: EngineSettings
  #closing = false

  constructor({ settings, store, hooks, log, now = Date.now }: EngineParts) {
    this.settings = settings
    this.now = now
    this.#store = store
    this.#hooks = hooks
    this.#log = log
    this.#recorder = new Recorder(store, (error) =>
      log.error('the record could not be written', { error: String(error) }),
    )
    this.#sessions = new Sessions(this)
    this.#controls = new Controls(store, this.#sessions)
    this.#idempotency = new Idempotency(store, now, this.#turns)
    this.#sessions.warm(settings.agents.values())
  }

  get lineLimit(): number {
    return this.settings.limits.line
  }

  get bodyLimit(): number {
    return this.settings.limits.body
  }

  get stallLimit(): number {
    return this.settings.limits.idle
  }

  /** False once it is stopping. */
  get ready(): boolean {
    return !this.#closing
  }

  /** Turns that run or wait, the oldest first. */
  get turns(): Iterable<Turn> {
    return this.#turns.values()
  }

  /** Gives an honest ending to the turns that a gateway which is gone has left. Call it before the first client. */
  async recover(): Promise<void> {
    const lost = await recoverTurns(this.#store, this.now())
    if (lost > 0) this.#log.warn('turns of a gateway that is gone were ended', { turns: lost })
  }

  /** A client's wire. The caller feeds it and calls `open` first. */
  client(options: ClientOptions): ClientLink {
    const client = new ClientLink(this, options)
    this.#clients.add(client)
    return client
  }

  /** Stops taking turns, lets those that run go on for `drainMs`, cancels the rest, ends every agent, closes the store. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true
    await this.#untilIdle(drainMs)
    for (const turn of [...this.#turns.values()]) turn.cancel()
    const { grace } = this.settings.limits
    await this.#untilIdle(3 * grace)
    await this.#sessions.close(grace)
    await this.#recorder.flush()
    await this.#store.close()
  }

  newLinkId(): string {
    return randomBytes(9).toString('base64url')
  }

  scope({ context, front, carrier }: ClientOptions): RequestScope {
    const { transport, method, path } = context
    return this.#hooks.request({ transport, front, method, path, carrier })
  }

  dispatch(client: ClientLink, command: Command, exchange: Exchange | undefined): void {
    const choice = this.#choose(client, command)
    if ('code' in choice) exchange?.fail(choice)
    else if (command.type === 'turn-start') {
      this.#guard(exchange, this.#start(client, command, choice, exchange))
    } else {
      this.#guard(exchange, this.#control(client, command, choice, exchange))
    }
  }

  closed(client: ClientLink): void {
    this.#clients.delete(client)
  }

  record(turn: Turn, event: TurnEvent): void {
    this.#recorder.event(turn, event)
  }

  linkEvent(turn: Turn, event: LinkEvent): void {
    const session = this.#sessionOf.get(turn)
    if (session) this.idleEvent(session, event)
  }

  idleEvent(session: LiveSession, event: LinkEvent): void {
    if (event.type === 'session-bound') void this.#bind(session, event.agentSession)
    else if (event.type === 'command-reply') this.#controls.reply(event)
    else session.running?.tell(event)
  }

  ended(turn: Turn): void {
    this.#turns.delete(turn.id)
    const session = this.#sessionOf.get(turn)
    this.#sessionOf.delete(turn)
    if (session) this.#recorder.end(turn, session.record.id)
    if (this.#turns.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  delivered(turn: Turn): void {
    this.#recorder.delivered(turn)
  }

  abandon(turn: Turn): void {
    this.#sessionOf.get(turn)?.abandon(turn)
  }

  freshSession(turn: Turn): string {
    const id = this.newLinkId()
    const session = this.#sessionOf.get(turn)
    if (session) void this.#bind(session, id)
    return id
  }

  callFailed({ pool, record }: LiveSession, { why, exitCode, signal, stderr, fault: found }: CallEnd): void {
    this.#log.warn('an agent failed', {
      agent: pool.agent.name,
      session: record.id,
      why,
      exitCode,
      signal,
      stderr,
      fault: found?.message,
    })
  }

  expired(session: LiveSession): void {
    this.#sessions.forget(session)
  }

  #choose(client: ClientLink, command: Command): RouteChoice | Fault {
    const { front, agent: explicit, context, allowed } = client.options
    return chooseAgent(this.settings, { front, explicit, principal: context.principal, allowed, command })
  }

  async #start(
    client: ClientLink,
    asked: Command & TurnStart,
    { agent, route }: RouteChoice,
    exchange: Exchange | undefined,
  ): Promise<void> {
    if (!exchange) return
    if (this.#closing) return exchange.fail(fault('overloaded', 'The gateway is stopping; try again in a moment.'))
    const { tenant, front } = client.options
    const at = this.now()
    const id = asked.session?.id ?? this.newLinkId()
    const command = { ...asked, session: { ...asked.session, id } }
    const key = { tenant, agent: agent.name, session: id, conversation: command.session?.conversation ?? '' }
    const record = await this.#store.openSession(key, this.newLinkId(), at)
    const verdict = await this.#idempotency.claim(record.id, command)
    if (exchange.ended) return
    if (verdict.do === 'join') {
      verdict.turn.join(exchange)
      exchange.settleCancel()
      return
    }
    if (verdict.do === 'replay') {
      return replay(this.#store, { turn: verdict.turn, session: id, agent: agent.name, command }, exchange)
    }
    const session = this.#sessions.open(record, agent, record.createdAt !== at)
    const limits = { ...agent.limits, ...route.limits }
    const full = session.refusal(limits.queue)
    if (full) return exchange.fail(full)
    const scope = client.scope.turn({
      turn: command.turn,
      agent: agent.name,
      back: agent.protocol,
      session: id,
      ...(command.options.model !== undefined && { model: command.options.model }),
    })
    const turn = new Turn({ command, agent, route, limits, session: id, exchange, scope, owner: this })
    this.#turns.set(turn.id, turn)
    this.#sessionOf.set(turn, session)
    await this.#recorder.begin(turn, { session: record.id, tenant, front, at })
    if (turn.ended) return
    turn.accept()
    if (!exchange.settleCancel()) session.enqueue(turn)
  }

  async #control(
    client: ClientLink,
    command: ControlCommand,
    { agent }: RouteChoice,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const { tenant, allowed } = client.options
    if (command.type === 'turn-cancel' || command.type === 'ask-reply') {
      const meant = client.exchangeOf(command.target)
      const turn = meant?.turn ?? this.#turnOfTarget(client, command.target)
      const done = command.type === 'ask-reply' ? turn?.answer(command) : (meant ?? turn)?.cancel()
      exchange?.reply(done ? {} : { fault: GONE })
      return
    }
    await this.#controls.run(command, { settings: this.settings, agent, tenant, allowed, at: this.now() }, exchange)
  }

  /** A turn of the same tenant that another of its wires started. */
  #turnOfTarget(client: ClientLink, target: unknown): Turn | undefined {
    if (typeof target !== 'object' || target === null) return undefined
    const { turn: id, request } = target as { turn?: Id; request?: string }
    for (const turn of this.#turns.values()) {
      if (this.#sessionOf.get(turn)?.record.tenant !== client.options.tenant) continue
      if (turn.id === id || (request !== undefined && turn.command.request === request)) return turn
    }
    return undefined
  }

  async #bind(session: LiveSession, bound: string): Promise<void> {
    if (session.record.bound === bound) return
    session.record.bound = bound
    try {
      await this.#store.bindSession(session.record.id, bound)
    } catch (error) {
      this.#log.error('the session binding could not be written', { error: String(error) })
    }
  }

  /** Whatever goes wrong inside the gateway ends the exchange with the client's own error, and is logged. */
  #guard(exchange: Exchange | undefined, work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#log.error('a command failed', { error: String(error) })
      const why = fault('internal', 'The gateway could not do this; see its log.')
      if (exchange?.turn) exchange.turn.fail(why)
      else exchange?.fail(why)
    })
  }

  #untilIdle(ms: number): Promise<void> {
    if (this.#turns.size === 0 || ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#idle.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
