import { type Fault, fault } from '../src/model/index.ts'
import { hostAllowed, type Names } from './hosts.ts'
import { type Caller, callerOf, findKey, type KeyRule } from './keys.ts'
import { Limiter } from './limiter.ts'

/** Whom the gateway lets in. */
export interface Access extends Names {
  keys: readonly KeyRule[]
}

/** Why a request is not let in, and the headers that its answer has for that. */
export interface Refusal {
  fault: Fault
  headers: Readonly<Record<string, string>>
}

const OTHER_MACHINE: Refusal = {
  fault: fault(
    'forbidden',
    'The Host or Origin header names another machine; add it to server.hosts, or a web page to server.origins.',
  ),
  headers: {},
}

/** The one place that lets requests in: by the machine they name, the page they come from, their key, and its rate. */
export class Gate {
  readonly #limiter: Limiter
  #access: Access

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(access: Access, now: () => number = () => performance.now()) {
    this.#access = access
    this.#limiter = new Limiter(now)
  }

  /** Takes other keys and names from now on; what clients have used of their rates stays used. */
  reload(access: Omit<Access, 'bound'>): void {
    this.#access = { ...access, bound: this.#access.bound }
    this.#limiter.keep(access.keys.map(({ name }) => name))
  }

  /** Who sent the request, or why it is not let in. Each call counts as one request of the client. */
  admit(headers: Readonly<Record<string, string>>): Caller | Refusal {
    if (!hostAllowed(this.#access, headers)) return OTHER_MACHINE
    const key = findKey(this.#access.keys, headers)
    if (key && 'code' in key) return { fault: key, headers: { 'www-authenticate': 'Bearer' } }
    const wait = key?.rate ? this.#limiter.take(key.name, key.rate) : 0
    if (wait === 0) return callerOf(key)
    const found = fault('overloaded', `This key has sent too many requests; send the next one in ${wait} s.`)
    return { fault: found, headers: { 'retry-after': String(wait) } }
  }

  /** Whether web pages of this origin may use the gateway. */
  allowsOrigin(origin: string): boolean {
    return this.#access.origins.includes(origin)
  }
}
