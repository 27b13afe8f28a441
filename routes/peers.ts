import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type ClusterPeers, type ForwardedFate, MISDIRECTED_HEADER, PROOF_HEADER } from '../src/cluster/index.ts'
import type { Begun, Detour, Replica } from '../src/contract/index.ts'
import { AWAY, type Engine, waitMs } from '../src/engine/index.ts'
import { type Fault, fault } from '../src/model/index.ts'
import { headersOf } from './headers.ts'
import type { Caller } from './keys.ts'
import type { RequestBody } from './request-body.ts'

/** The wires to other replicas. */
export type Peers = ClusterPeers

/** The number of times that a request begins again because its session has moved, or its replica was gone. */
const ATTEMPTS = 4

/** The interval at which a replica that did not answer is tried again, in milliseconds. */
const AGAIN_MS = 200

const BROKEN = fault(
  'internal',
  'The replica that has this session was lost before it answered; the turn may have begun there.',
  { retryable: true },
)

/** A client's request that may go on at another replica. */
export interface Travelling {
  engine: Engine
  peers: Peers
  /** Node's own request and response. */
  bindings: HttpBindings
  body: RequestBody
  /** The client, and whether another replica has forwarded its request. */
  from: { caller: Caller; forwarded: boolean }
  /** Begins it here again, or refuses it. */
  again(refusal?: Fault): void
}

/** The client for which another replica asks, and the part of the answer that it has from there. */
export interface Sender {
  caller: Caller
  begun: Begun
}

/** The client for which another replica asks; undefined when the request does not come from a replica. */
export function senderOf({ passport }: Peers, incoming: IncomingMessage): Sender | { unproven: true } | undefined {
  if (incoming.headers[PROOF_HEADER] === undefined) return undefined
  const caller = passport.check(headersOf(incoming), incoming.method ?? '', incoming.url ?? '')
  // It is signed: what it holds was written by a replica.
  return caller === undefined || caller === '' ? { unproven: true } : (JSON.parse(caller) as Sender)
}

/** The path at which a replica asks another one for its state. */
export const INSIGHT_PATH = '/v1/cluster/insight'

/** The client for which a replica asks something of another one's own, as JSON; undefined when no replica asks. */
export function askedFor({ passport }: Peers, incoming: IncomingMessage): string | undefined {
  return passport.check(headersOf(incoming), incoming.method ?? '', incoming.url ?? '') || undefined
}

/** True when the request is one of a replica for itself. */
export function isFromPeer({ passport }: Peers, incoming: IncomingMessage): boolean {
  return passport.check(headersOf(incoming), incoming.method ?? '', incoming.url ?? '') === ''
}

/** The way of a request to other replicas. */
export function detourOf(of: Travelling): Detour {
  return {
    forwarded: of.from.forwarded,
    settled: () => of.body.settle(),
    to: (replica, repeatable, begun) =>
      of.from.forwarded ? misdirect(of) : new Journey(of, replica, { repeatable, begun }).begin(),
  }
}

/** Tells the replica that sent a request on that its session is not here. */
function misdirect({ bindings, body }: Travelling): void {
  body.settle()
  bindings.outgoing.writeHead(421, { [MISDIRECTED_HEADER]: 'moved' }).end()
}

/** The requests that began again, and how often. */
const begun = new WeakMap<IncomingMessage, number>()

/** A request on its way to one replica. */
class Journey {
  readonly #of: Travelling
  readonly #replica: Replica
  readonly #repeatable: boolean
  readonly #begun: Begun
  readonly #until: number

  constructor(of: Travelling, replica: Replica, { repeatable, begun }: { repeatable: boolean; begun: Begun }) {
    this.#of = of
    this.#replica = replica
    this.#repeatable = repeatable
    this.#begun = begun
    this.#until = performance.now() + waitMs(of.peers.cluster)
  }

  begin(): void {
    const { peers, bindings, body, from } = this.#of
    const { incoming, outgoing } = bindings
    if (outgoing.destroyed) return
    const sent = peers.forwarder.forward(this.#replica, {
      incoming,
      outgoing,
      caller: JSON.stringify({ caller: from.caller, begun: this.#begun } satisfies Sender),
      answered: () => body.settle(),
      failed: (fate) => this.#failed(fate),
    })
    body.readBy({ push: sent.push, end: sent.end, fail: sent.abort })
  }

  #failed(fate: ForwardedFate): void {
    const { engine, bindings } = this.#of
    engine.replication?.forwarding.forget()
    if (bindings.outgoing.destroyed) return
    if (fate === 'misdirected') this.#again()
    else if (fate === 'unproven') this.#of.again(AWAY)
    else if (fate === 'unreached' || this.#repeatable) setTimeout(() => void this.#retry(fate), AGAIN_MS)
    else this.#of.again(BROKEN)
  }

  /**
   * The replica is tried while its lease lasts, but not for long; when the lease is over the request begins again. So does
   * one that may have arrived: sent once more as it is, its turn would have the same id, and its key would seem to be its own.
   */
  async #retry(fate: ForwardedFate): Promise<void> {
    const { engine, bindings } = this.#of
    await engine.replication?.replicas.refresh().catch(() => {})
    if (bindings.outgoing.destroyed) return
    if (fate === 'broken' || !engine.replication?.isThere(this.#replica)) this.#again()
    else if (performance.now() < this.#until) this.begin()
    else this.#of.again(AWAY)
  }

  #again(): void {
    const { again } = this.#of
    const { incoming } = this.#of.bindings
    const times = (begun.get(incoming) ?? 0) + 1
    begun.set(incoming, times)
    if (times < ATTEMPTS) again()
    else again(AWAY)
  }
}
