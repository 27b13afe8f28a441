import type { LeaseRef, Replica, SessionKey, SessionRecord, Store, TurnRecord } from '../../contract/index.ts'
import { type Command, type Fault, fault, isRecord, parse, type Target } from '../../model/index.ts'
import type { ClientLink } from '../client/index.ts'
import {
  type AgentSettings,
  AWAY,
  type Cluster,
  type CurrentSettings,
  DRAINING,
  elapsed,
  limitsOf,
  MOVED,
  STALE,
  UNWRITABLE,
  waitMs,
} from '../common/index.ts'
import { cancelledTurn } from '../events/index.ts'
import type { Replicas } from '../record/index.ts'
import { keyText, type LiveTurns, type Sessions } from '../session/index.ts'
import type { Entry } from './entry.ts'
import { turnOf } from './turn-commands.ts'

/** The interval at which a session is asked for that another replica has, in milliseconds. */
const ASK_MS = 250

/** The number of sessions of other replicas that are remembered. */
const REMEMBERED = 10_000

/** Dependencies of `Forwarding`. */
export interface ForwardingPeers {
  store: Store
  replicas: Replicas
  cluster: Cluster
  turns: LiveTurns
  sessions: Sessions
  settings: CurrentSettings
}

/**
 * Finds the replica that is to answer a request. A session belongs to one replica at a time, which answers whatever is
 * about it and its turns; a session that belongs to none goes to this one, or to one with room for it.
 */
export class Forwarding {
  readonly #peers: ForwardingPeers
  /** The leases that sessions belonged to when they were read, by their keys. They may belong to others by now. */
  readonly #owners = new Map<string, LeaseRef>()
  readonly #mostOwners: number
  /** This replica is about to stop: it takes no session, and gives up its own at their next turn. */
  draining = false

  constructor(peers: ForwardingPeers, mostOwners = REMEMBERED) {
    this.#peers = peers
    this.#mostOwners = mostOwners
  }

  /** The fault of a request that cannot be recorded: one that stops has given up its lease and its store. */
  get unwritable(): Fault {
    return this.draining ? DRAINING : UNWRITABLE
  }

  /** The session of a key, taken for this replica if it belongs to none. */
  take(key: SessionKey): Promise<SessionRecord> {
    return this.#peers.replicas.take(key)
  }

  /** The agents that this replica can run, with the number of turns of further sessions that it has room for. */
  room(): Record<string, number> {
    const { sessions, settings } = this.#peers
    const agents = [...settings.current.agents.values()].filter((agent) => !agent.away)
    return Object.fromEntries(agents.map((agent) => [agent.name, sessions.roomFor(agent)]))
  }

  /** Forwards a command about a turn of another replica. True when it did. */
  async ofTurn(client: ClientLink, command: Command, target: Target): Promise<boolean> {
    const { tenant } = client.options.access
    if (this.#peers.turns.find(tenant, target, command.session?.id)) return false
    const record = await this.#running(tenant, target)
    return record?.tenant === tenant && record.outcome === undefined && this.#toOwner(client, record, command)
  }

  /** Forwards a request whose key the turn of this record holds. True when it did. */
  ofHolder(client: ClientLink, record: TurnRecord, command: Command): Promise<boolean> {
    return this.#toOwner(client, record, command)
  }

  /** Forwards a command without a turn to the replica that has its session, or else has the agent. True when it did. */
  async ofControl(client: ClientLink, command: Command, agent: AgentSettings): Promise<boolean> {
    const named = turnIn(command)
    if (named !== undefined) return this.ofTurn(client, command, { turn: named })
    const session = await this.#meant(client, command, agent)
    if (session?.owner) return this.#toOwner(client, session, command)
    const peer = agent.away && this.#peers.replicas.withMostRoom(agent.name)
    return peer ? client.leaveFor(peer, true) : false
  }

  /**
   * The session of a request for a turn if it is this replica's, or is taken because it belongs to none; or the replica
   * that is to get the request; or the reason why there is none. Undefined when a process has it that others cannot
   * reach.
   */
  async place({ client, agent }: Entry, key: SessionKey): Promise<SessionRecord | Replica | Fault | undefined> {
    const { replicas } = this.#peers
    if (!replicas.safe) return this.unwritable
    const known = this.#kept(key, agent) ?? this.#remembered(client, key)
    if (known) return known
    const elsewhere = this.#takes(client, agent) ? undefined : await this.#instead(key, agent)
    if (elsewhere) return elsewhere
    const record = await replicas.take(key)
    if (this.#isOwn(record)) return record
    if (this.#owners.size >= this.#mostOwners) this.#owners.clear()
    this.#owners.set(keyText(key), record.owner!)
    return this.#ownerOf(record)
  }

  /** Another replica did not take a request: who has sessions is looked up again. */
  forget(): void {
    this.#owners.clear()
  }

  /**
   * The replica that had the session when it was read last. It sends the request back when another one has the session by
   * now. One that was sent here is looked up, so that none goes round.
   */
  #remembered(client: ClientLink, key: SessionKey): Replica | undefined {
    const lease = client.forwarded || !client.mayLeave ? undefined : this.#owners.get(keyText(key))
    const owner = lease && this.#peers.replicas.known(lease)
    return owner?.draining || owner?.expired ? undefined : owner
  }

  /**
   * The record of a session in memory that is this replica's, and so is changed by no other one. The store refuses its
   * turn when it has gone to another one all the same. A replica that stops, or is not to run the agent any more, reads it,
   * and gives it up.
   */
  #kept(key: SessionKey, agent: AgentSettings): SessionRecord | undefined {
    const live = this.draining || agent.away ? undefined : this.#peers.sessions.live.find(key)
    return live && live.asOf !== STALE && this.#isOwn(live.record) ? live.record : undefined
  }

  /** True when the session is this replica's. */
  #isOwn({ owner }: SessionRecord): boolean {
    return owner !== undefined && this.#peers.replicas.isOwn(owner)
  }

  /** True when a session that belongs to no replica may begin here. A request from another replica needs no room. */
  #takes(client: ClientLink, agent: AgentSettings): boolean {
    if (this.draining || agent.away) return false
    return client.forwarded || !client.mayLeave || this.#peers.sessions.roomFor(agent) > 0
  }

  /** The replica for a session that may not begin here; undefined when it must begin here all the same. */
  async #instead(key: SessionKey, agent: AgentSettings): Promise<Replica | Fault | undefined> {
    const { store, replicas } = this.#peers
    const known = await store.findSession(key)
    const owner = known && (await this.#ownerOf(known))
    if (owner) return owner
    const isOwn = known !== undefined && this.#isOwn(known)
    if (isOwn && !this.draining && !agent.away) return undefined
    if (this.draining && !isOwn) return DRAINING
    const peer = replicas.withMostRoom(agent.name)
    const mayGo = this.draining || peer !== undefined
    // A turn that runs ends where it is, and those behind it too.
    if (isOwn && mayGo && !(await this.giveUp(known.id))) return this.draining ? DRAINING : undefined
    if (this.draining) return peer ?? DRAINING
    // Where all are full the turn waits in line: here, if it can.
    if (agent.away) return peer ?? noReplica(agent)
    return (peer?.agents[agent.name] ?? 0) > 0 ? peer : undefined
  }

  /**
   * Gets a session from another replica for a request that cannot be sent there. The request waits until no turn runs
   * there, as it would for one that runs here, and not for long when that one cannot be reached.
   */
  async bring({ client, command, exchange, agent, route }: Entry, key: SessionKey): Promise<SessionRecord | Fault> {
    const { replicas, cluster } = this.#peers
    const until = elapsed() + (command.options.totalMs ?? limitsOf(agent, route).total)
    if (agent.away) return noReplica(agent)
    if (this.draining) return DRAINING
    client.settle()
    for (let heard = elapsed(); ; ) {
      const record = await replicas.take(key)
      if (this.#isOwn(record)) return record
      if (exchange.unwanted) return cancelledTurn(command.turn).fault!
      if (elapsed() >= until) return MOVED
      const owner = await this.#ownerOf(record)
      if (!owner) await replicas.lapse(record.owner!)
      const answer = owner ? await cluster.handOver(owner, record.id) : 'kept'
      if (answer === 'given') continue
      if (answer === 'kept') heard = elapsed()
      else if (elapsed() - heard >= waitMs(cluster)) return AWAY
      await new Promise((resolve) => setTimeout(resolve, ASK_MS))
    }
  }

  /** Gives up a session of this replica in which nothing runs. True when it is not its own any more. */
  async giveUp(session: string): Promise<boolean> {
    const { sessions, replicas } = this.#peers
    const live = sessions.live.get(session)
    if (live?.busy || live?.occupied) return false
    live?.close()
    return replicas.giveUp(session)
  }

  async #toOwner(client: ClientLink, of: TurnRecord | SessionRecord, command: Command): Promise<boolean> {
    const owner = await this.#ownerOf(of)
    return owner ? client.leaveFor(owner, isRepeatable(command)) : false
  }

  /** The other replica that a session or turn belongs to. */
  #ownerOf(of: TurnRecord | SessionRecord): ReturnType<Replicas['find']> {
    const { replicas } = this.#peers
    const lease = typeof of.owner === 'string' ? (of as TurnRecord) : of.owner
    return lease === undefined || replicas.isOwn(lease) ? undefined : replicas.find(lease)
  }

  async #running(tenant: string, target: Target): Promise<TurnRecord | undefined> {
    const { store, replicas } = this.#peers
    if (target === 'running') return undefined
    if ('request' in target) return replicas.runningTurn(tenant, target.request)
    return store.readTurn('turn' in target ? target.turn : turnOf(target.continuation))
  }

  /** The session that a command without a turn is about. */
  async #meant(client: ClientLink, command: Command, agent: AgentSettings): Promise<SessionRecord | undefined> {
    const { store } = this.#peers
    if (command.type === 'session-delete' || command.type === 'session-fork') return store.readSession(command.id)
    const { id: session, conversation = '' } = command.session ?? {}
    if (session === undefined) return undefined
    return store.findSession({ tenant: client.options.access.tenant, agent: agent.name, session, conversation })
  }
}

/** The turn that a query is about. */
function turnIn(command: Command): string | undefined {
  if (command.type !== 'query' || command.what !== 'turn' || command.args === undefined) return undefined
  const args = parse(command.args)
  return isRecord(args) && typeof args['turn'] === 'string' ? args['turn'] : undefined
}

/** True for an idempotent command. */
export function isRepeatable(command: Command): boolean {
  return command.type !== 'turn-start' || command.once !== undefined
}

function noReplica({ name }: AgentSettings): Fault {
  const text = `No replica that can take this request has the agent "${name}"; try again later.`
  return fault('agent-unavailable', text, { retryAfterMs: 1000 })
}
