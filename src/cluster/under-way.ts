import type { ClientRequest } from 'node:http'
import type { Replica } from '../contract/index.ts'

/** The interval at which requests under way are counted, in milliseconds. */
const IDLE_MS = 50

/** The patience with a replica that answers nothing; times are in milliseconds. */
export interface Patience {
  /** The time for a connection. */
  connectMs: number
  /** The time without a byte of an answer after which a request about the replica itself is given up. */
  answerMs: number
  /** The interval at which it is asked whether it answers while requests are under way to it. */
  everyMs: number
  /** The number of missing answers in a row after which those requests are given up. */
  times: number
}

const CONNECT_MS = 2000
const ANSWER_MS = 2000
const EVERY_MS = 2000

/** The patience with replicas whose leases last for this many milliseconds. */
export function patienceFor(leaseMs: number): Patience {
  return { connectMs: CONNECT_MS, answerMs: ANSWER_MS, everyMs: EVERY_MS, times: Math.ceil(leaseMs / EVERY_MS) }
}

/** The requests under way to one replica. */
interface Route {
  readonly sent: Set<ClientRequest>
  readonly asking: NodeJS.Timeout
}

/**
 * The requests of clients under way to other replicas. A long turn is as silent as a replica behind a network that
 * drops everything, so replicas are asked meanwhile. The requests to one that does not answer are given up.
 */
export class UnderWay {
  readonly #answers: (replica: Replica) => Promise<boolean>
  readonly #patience: Patience
  /** By the address of the replica. */
  readonly #routes = new Map<string, Route>()

  /** `answers` asks a replica whether it is there. */
  constructor(answers: (replica: Replica) => Promise<boolean>, patience: Patience) {
    this.#answers = answers
    this.#patience = patience
  }

  /** Counts a request to a replica until it is over. */
  add(replica: Replica, request: ClientRequest): void {
    const { address } = replica
    const route = this.#routes.get(address) ?? { sent: new Set(), asking: this.#ask(replica) }
    this.#routes.set(address, route)
    route.sent.add(request)
    request.once('close', () => {
      route.sent.delete(request)
      if (route.sent.size > 0) return
      clearInterval(route.asking)
      this.#routes.delete(address)
    })
  }

  /** Gives up the requests to a replica. */
  giveUp({ address }: Pick<Replica, 'address'>): void {
    for (const request of this.#routes.get(address)?.sent ?? []) request.destroy(new Error('the replica is gone'))
  }

  /**
   * Resolves after `ms` milliseconds, or as soon as every request under way is one that its client could send again to
   * another replica.
   */
  async untilIdle(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (this.#isBusy && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    }
  }

  /**
   * True while a request is under way that does more than follow a turn: followers continue at another replica from
   * their last event.
   */
  get #isBusy(): boolean {
    return [...this.#routes.values()].some(({ sent }) => [...sent].some(({ method }) => method !== 'GET'))
  }

  #ask(replica: Replica): NodeJS.Timeout {
    const { everyMs, times } = this.#patience
    let missed = 0
    const ask = async (): Promise<void> => {
      missed = (await this.#answers(replica)) ? 0 : missed + 1
      if (missed >= times) this.giveUp(replica)
    }
    return setInterval(() => void ask(), everyMs).unref()
  }
}
