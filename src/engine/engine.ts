import type { CallEnd, Hooks, JournalEntry, RequestScope, SessionRecord, Store } from '../contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type Message,
  type TurnEvent,
  UNASKED_OUTPUT,
} from '../model/index.ts'
import { Breakers } from './agent/index.ts'
import { ClientLink, type ClientOptions, type ClientOwner, type Exchange, Outbox } from './client/index.ts'
import {
  type AgentSettings,
  type EngineLog,
  type EngineParts,
  type EngineSettings,
  elapsed,
  newId,
  UNWRITABLE,
} from './common/index.ts'
import { Admission, Controls, chooseAgent, TurnCommands } from './dispatch/index.ts'
import { Lease, type LeaseHolder, needsRecord, Recorder, StoreWatch, Upkeep } from './record/index.ts'
import { type LiveSession, LiveTurns, type SessionOwner, Sessions, Watches } from './session/index.ts'
import type { AskAudit, Turn, TurnOwner } from './turn/index.ts'

/** The life of turns: takes clients' wires, routes their commands, runs turns on agents, keeps what must be kept. */
export class Engine implements ClientOwner, TurnOwner, SessionOwner, LeaseHolder {
  readonly #store: Store
  readonly #hooks: Hooks
  readonly #log: EngineLog
  readonly #lease: Lease
  readonly #recorder: Recorder
  readonly #sessions: Sessions
  readonly #controls: Controls
  readonly #turns = new LiveTurns()
  readonly #watches: Watches
  readonly #turnCommands: TurnCommands
  readonly #admission: Admission
  readonly #upkeep: Upkeep
  readonly breakers: Breakers
  readonly outbox: Outbox
  /** Watches whether the store can be written. */
  readonly storeWatch: StoreWatch
  readonly now: () => number
  readonly keepAliveMs: number
  settings: EngineSettings
  #closing = false

  constructor({ settings, store, hooks, log, now = Date.now, keepAliveMs = 15_000 }: EngineParts) {
    this.keepAliveMs = keepAliveMs
    this.settings = settings
    this.now = now
    this.#store = store
    this.#hooks = hooks
    this.#log = log
    this.#sessions = new Sessions(this, hooks)
    this.#lease = new Lease(store, this)
    const watch = new StoreWatch({ store, log, now, lease: this.#lease, turns: this.#turns, sessions: this.#sessions })
    this.storeWatch = watch
    const unsent = (error: unknown): void => log.error('an answer could not be sent', { error: String(error) })
    this.outbox = new Outbox(() => store.commit(), watch.failed.bind(watch), unsent)
    this.#recorder = new Recorder(store, watch, this.#lease)
    this.breakers = new Breakers(elapsed)
    this.#watches = new Watches(this.#turns)
    this.#controls = new Controls(store, this.#sessions, this.#turns, this.#watches)
    this.#turnCommands = new TurnCommands({ store, now }, this.#turns, this.#recorder)
    this.#admission = new Admission({
      store,
      sessions: this.#sessions,
      turns: this.#turns,
      recorder: this.#recorder,
      watch,
      breakers: this.breakers,
      owner: this,
      watches: this.#watches,
      settings: () => this.settings,
      newId: () => this.newLinkId(),
    })
    this.#sessions.warm(settings.agents.values())
    this.#upkeep = new Upkeep({ store, breakers: this.breakers, log, now, settings: () => this.settings })
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
  get turns(): readonly Turn[] {
    return this.#turns.values()
  }

  /** True while turns run. */
  get busy(): boolean {
    return this.#turns.size > 0
  }

  /**
   * Makes this the process that serves clients under this name, which no two live processes can have at the same time:
   * the turns that one before it has left end now, and those of other processes that go as soon as that is certain.
   */
  async serve(name: string): Promise<void> {
    await this.#lease.serve(name)
    this.#upkeep.keepRecovering()
    await this.recover()
  }

  /** Gives an honest ending to the turns of processes that are gone, and deletes what is older than the retention. */
  async recover(): Promise<void> {
    await this.#upkeep.recover()
    await this.#upkeep.prune()
  }

  /** New settings for everything that begins from now on; agents that are the same object keep their processes. */
  reload(settings: EngineSettings): void {
    this.settings = settings
    this.#sessions.retire(settings.agents)
    this.#sessions.warm(settings.agents.values())
    this.#upkeep.watch()
  }

  /** A client's wire. The caller feeds it and calls `open` first. */
  client(options: ClientOptions): ClientLink {
    return new ClientLink(this, options)
  }

  /** Stops taking turns, lets those that run go on for `drainMs`, cancels the rest, ends every agent, closes the store. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true
    this.#upkeep.close()
    this.storeWatch.close()
    await this.#turns.untilIdle(drainMs)
    for (const turn of this.turns) turn.cancel()
    const { grace } = this.settings.limits
    await this.#turns.untilIdle(3 * grace)
    this.#watches.close()
    await this.#sessions.close(grace)
    await this.#recorder.flush()
    await this.#lease.drop()
    await this.#store.close()
  }

  newLinkId(): string {
    return newId()
  }

  scope({ context, front, carrier }: ClientOptions): RequestScope {
    const { transport, method, path } = context
    return this.#hooks.request({ transport, front, method, path, carrier })
  }

  dispatch(client: ClientLink, command: Command, exchange: Exchange | undefined): void {
    this.#dispatch(client, command, exchange).catch((error: unknown) => {
      // Whatever goes wrong inside the gateway ends the exchange with the client's own error, and is logged.
      const { traceparent } = client.scope.carrier
      this.#log.error('a command failed', { error: String(error), traceparent })
      const why = fault('internal', 'The gateway could not do this; see its log.')
      if (exchange?.turn && !exchange.follows) exchange.turn.fail(why)
      exchange?.fail(why)
    })
  }

  broken({ options: { front } }: ClientLink, error: unknown): void {
    this.#log.error('the codec of a client failed', { front, error: String(error) })
  }

  record(turn: Turn, event: TurnEvent): void {
    this.#recorder.event(turn, event)
  }

  keeps(turn: Turn): boolean {
    return this.storeWatch.keeps(turn)
  }

  recorded(turn: Turn): Promise<readonly JournalEntry[]> {
    return this.#recorder.events(turn)
  }

  linkEvent(turn: Turn, event: LinkEvent): void {
    const session = this.#turns.sessionOf(turn)
    if (session) this.idleEvent(session, event)
  }

  idleEvent(session: LiveSession, event: LinkEvent): void {
    if (event.type === 'session-bound') this.bound(session, event.agentSession)
    else if (event.type === 'command-reply') this.#controls.reply(event)
    else if (event.type === 'notice' && session.isBetweenTurns(event)) this.#spoke(session, event)
    else session.running?.tell(event)
  }

  /** An agent said something that no turn asked for: it is kept with the session, and its next turn tells it. */
  #spoke(session: LiveSession, event: LinkEvent & { type: 'notice' }): void {
    const { record, pool, between } = session
    const { name, redact } = pool.agent
    const notice = { ...event, text: redact(event.text) }
    const { severity, code, text } = notice
    const fits = session.tellLater(notice)
    this.#log.info('an agent spoke between turns', {
      agent: name,
      session: record.id,
      severity,
      code,
      characters: text.length,
    })
    if (fits && code === UNASKED_OUTPUT && between.mayBeKept) this.#recorder.unasked(record.id, text, this.now())
  }

  ended(turn: Turn): void {
    this.breakers.recordOutcome(turn.agent, turn.view.end?.fault)
    const session = this.#turns.delete(turn)
    if (session) this.#recorder.end(turn, session.record.id)
  }

  delivered(turn: Id): void {
    this.#recorder.delivered(turn)
  }

  abandon(turn: Turn): void {
    this.#turns.sessionOf(turn)?.abandon(turn)
  }

  audit(turn: Turn, { ask, about, how, option, by }: AskAudit): void {
    const agent = turn.agent.name
    const { traceparent } = turn.scope.carrier
    const fields = { turn: turn.id, agent, ask, about, how, option, by, traceparent }
    this.#log.info('a question of an agent was settled', fields)
  }

  usable(agents: readonly AgentSettings[]): AgentSettings | undefined {
    return agents.find((agent) => this.breakers.admit(agent))
  }

  releaseProbe(agent: AgentSettings): void {
    this.breakers.release(agent)
  }

  failed(agent: AgentSettings, why: Fault): void {
    this.breakers.recordOutcome(agent, why)
    this.#log.warn('a turn is given to another agent', { agent: agent.name, code: why.code })
  }

  moved(turn: Turn): void {
    const tenant = this.#turns.sessionOf(turn)?.record.tenant ?? ''
    this.#admission.move(turn, { tenant }).catch((error: unknown) => {
      const { traceparent } = turn.scope.carrier
      this.#log.error('a turn could not be given to another agent', { error: String(error), traceparent })
      turn.fail(fault('internal', 'The gateway could not do this; see its log.'))
    })
  }

  freshSession(turn: Turn): string {
    const id = this.newLinkId()
    const session = this.#turns.sessionOf(turn)
    if (session) this.bound(session, id)
    return id
  }

  async transcript({ record }: LiveSession): Promise<readonly Message[]> {
    await this.#recorder.flush()
    return this.#store.readMessages(record.id)
  }

  callFailed({ pool, record, running }: LiveSession, { why, exitCode, signal, stderr, fault: found }: CallEnd): void {
    const { name, redact } = pool.agent
    this.#log.warn('an agent failed', {
      agent: name,
      session: record.id,
      traceparent: running?.scope.carrier.traceparent,
      why,
      exitCode,
      signal,
      stderr: stderr && redact(stderr),
      fault: found && redact(found.message),
    })
  }

  expired(session: LiveSession): void {
    this.#sessions.forget(session)
  }

  async #dispatch(client: ClientLink, command: Command, exchange: Exchange | undefined): Promise<void> {
    const { front, agent: explicit, context, allowed, tenant } = client.options
    if (command.type === 'turn-start') client.scope.read?.()
    if (TurnCommands.takes(command)) return this.#turnCommands.run(client, command, exchange)
    const choice = chooseAgent(this.settings, { front, explicit, principal: context.principal, allowed, command })
    if ('code' in choice) return exchange?.fail(choice)
    if (command.type !== 'turn-start') {
      // The answer includes turns that have just ended.
      if (command.type === 'query') await this.#recorder.flush()
      const { storeWatch } = this
      if (needsRecord(command, exchange) && !(await storeWatch.ready())) return exchange?.fail(UNWRITABLE)
      const about = { settings: this.settings, agent: choice.agent, tenant, allowed, at: this.now() }
      return this.#controls.run(command, about, exchange)
    }
    if (!exchange) return
    if (this.#closing) return exchange.fail(fault('overloaded', 'The gateway is stopping; try again in a moment.'))
    return this.#admission.start(client, command, choice, exchange)
  }

  bound({ record }: LiveSession, id: string | undefined): void {
    if (record.bound === id && !record.renamed) return
    if (id === undefined) delete record.bound
    else record.bound = id
    delete record.renamed
    void this.#bind(record)
  }

  async #bind({ id, bound }: SessionRecord): Promise<void> {
    if (!this.storeWatch.writable) return
    try {
      await this.#store.bindSession(id, bound)
    } catch (error) {
      this.storeWatch.failed(error)
    }
  }
}
