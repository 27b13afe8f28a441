import type { Store } from '../contract/index.ts'
import { Breakers, Replies } from './agent/index.ts'
import { ClientLink, type ClientOptions, type ClientPeers, Outbox } from './client/index.ts'
import { type EngineParts, type EngineSettings, elapsed } from './common/index.ts'
import { commandTakers, Dispatcher, type Memory, type TurnWire, turnWire, type Viewer } from './dispatch/index.ts'
import { Insight } from './insight.ts'
import {
  Elsewhere,
  KeyUse,
  Lease,
  leaseTimes,
  Recorder,
  type SharedCounts,
  StorePulse,
  StoreWatch,
  Upkeep,
} from './record/index.ts'
import { type Replication, replicationOf } from './replication.ts'
import { Figures, LiveSessions, LiveTurns, Sessions, Watches } from './session/index.ts'
import type { Turn } from './turn/index.ts'

/** The life of turns: puts its parts together, and starts, reloads and stops them. */
export class Engine {
  readonly breakers = new Breakers(elapsed)
  /** Watches whether the store can be written. */
  readonly storeWatch: StoreWatch
  /** Figures of the gateway and its agents. */
  readonly insight: Insight
  readonly #settings: { current: EngineSettings }
  readonly #store: Store
  readonly #lease: Lease
  readonly #memory: Memory
  /** The other replicas, where there may be any. */
  readonly replication: Replication | undefined
  readonly #recorder: Recorder
  readonly #dispatcher: Dispatcher
  readonly #upkeep: Upkeep
  readonly #ofClients: ClientPeers

  constructor(parts: EngineParts) {
    const {
      settings: current,
      store,
      hooks,
      log,
      now = Date.now,
      keepAliveMs = 15_000,
      clean = asItIs,
      cluster,
      mostHeld,
    } = parts
    const { breakers } = this
    const turns = new LiveTurns()
    const settings = { current }
    const replies = new Replies()
    const live = new LiveSessions()
    const lease = new Lease({ store, log, now, ...(cluster && { times: leaseTimes(cluster.leaseMs) }) }, turns)
    const watch = new StoreWatch({ store, lease, log, now, turns, sessions: live })
    const use = new KeyUse({ store, lease, watch, turns, settings, now })
    const recorder = new Recorder(store, watch, lease, use, mostHeld)
    const elsewhere = new Elsewhere(store, lease, now)
    const sessions = new Sessions(live, { recorder, sessions: live, replies, log, elsewhere, now }, hooks)
    const unsent = (error: unknown): void => log.error('an answer could not be sent', { error: String(error) })
    const outbox = new Outbox(() => recorder.commit(), watch.failed.bind(watch), unsent)
    const base = { store, log, settings, now, clean }
    const record = { recorder, watch, use }
    const memory = { turns, watches: new Watches(turns), sessions, replies, breakers, figures: new Figures() }
    const replication = cluster && replicationOf(cluster, { ...base, ...memory, lease })
    const forwarding = replication?.forwarding
    const takers = commandTakers(base, record, memory, forwarding)
    this.#memory = memory
    this.replication = replication
    this.insight = new Insight(memory, settings, new StorePulse(store), now)
    this.#settings = settings
    this.#store = store
    this.#lease = lease
    this.storeWatch = watch
    this.#recorder = recorder
    this.#dispatcher = new Dispatcher(takers, { recorder, watch, log, settings, forwarding, now })
    this.#ofClients = { listener: this.#dispatcher, outbox, hooks, settings, keepAliveMs, now }
    this.#upkeep = new Upkeep({ ...base, breakers })
    sessions.warm(current.agents.values())
  }

  get settings(): EngineSettings {
    return this.#settings.current
  }

  /** The longest frame of a line protocol, in characters. */
  get lineLimit(): number {
    return this.settings.limits.line
  }

  /** The time that a streamed answer may be silent before its wire is kept alive, in milliseconds. */
  get keepAliveMs(): number {
    return this.#ofClients.keepAliveMs
  }

  /** The counts of requests of all processes that share the store. */
  get sharedCounts(): SharedCounts {
    return this.#upkeep.sharedCounts
  }

  /** `ready`, or the reason why no turns are taken. */
  get state(): 'ready' | 'stopping' | 'draining' | 'store-unwritable' {
    if (this.#dispatcher.closing) return 'stopping'
    if (this.replication?.draining) return 'draining'
    return this.storeWatch.writable && this.#lease.safe ? 'ready' : 'store-unwritable'
  }

  /** Turns that run or wait, the oldest first. */
  get turns(): readonly Turn[] {
    return this.#memory.turns.values()
  }

  /**
   * Makes this the process that serves clients under this name, which no two live processes can have at the same time:
   * the turns that one before it has left end now, and those of other processes that go as soon as that is certain.
   */
  async serve(name: string): Promise<void> {
    await this.#lease.serve(name)
    const { renewMs } = this.#lease.times
    this.#upkeep.keepRecovering(this.replication ? renewMs / 2 : renewMs)
    await this.recover()
  }

  /** Ends the turns of processes that have ended, and deletes what is older than the retention. */
  async recover(): Promise<void> {
    await this.#upkeep.recover()
    await this.#upkeep.prune()
  }

  /** New settings for everything that begins from now on; agents that are the same object keep their processes. */
  reload(settings: EngineSettings): void {
    this.#settings.current = settings
    this.#memory.sessions.retire(settings.agents)
    this.#memory.sessions.warm(settings.agents.values())
    this.#upkeep.watch()
  }

  /** The known wires of a turn; undefined when the viewer may see no turn of that id. See `turnWire`. */
  async wire(turn: string, viewer: Viewer, again = false): Promise<TurnWire | undefined> {
    await this.#recorder.flush()
    return turnWire({ store: this.#store, turns: this.#memory.turns }, turn, viewer, again)
  }

  /** A client's wire. The caller feeds it and calls `open` first. */
  client(options: ClientOptions): ClientLink {
    return new ClientLink(this.#ofClients, options)
  }

  /** Takes no sessions from now on: other replicas do, and get those of this one at their next turn. */
  async drain(): Promise<void> {
    if (this.replication) await this.replication.drain()
    else this.#dispatcher.closing = true
  }

  /** Resolves when no turn runs any more, or after `ms` milliseconds. To be called when it is about to be closed. */
  untilDone(ms: number): Promise<void> {
    return this.#memory.turns.untilDone(ms)
  }

  /** Stops taking turns, lets those that run go on for `drainMs`, cancels the rest, ends every agent, closes the store. */
  async close(drainMs: number): Promise<void> {
    this.#dispatcher.closing = true
    // When the store cannot be reached the others learn it from the lease.
    await this.drain().catch(() => {})
    this.#upkeep.close()
    this.storeWatch.close()
    await this.#memory.turns.untilDone(drainMs)
    for (const turn of this.turns) turn.cancel()
    const { grace } = this.settings.limits
    await this.#memory.turns.untilIdle(3 * grace)
    this.#memory.watches.close()
    await this.#memory.sessions.close(grace)
    await this.#recorder.flush()
    await this.#ofClients.outbox.untilEmpty()
    this.replication?.close()
    await this.#lease.drop()
    await this.#store.close()
  }
}

function asItIs(text: string): string {
  return text
}
