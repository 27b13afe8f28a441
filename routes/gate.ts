import { type Fault, fault, isLoopback } from '../src/model/index.ts'
import { loginOf } from './cookie.ts'
import { hostAllowed, type Names } from './hosts.ts'
import { type Caller, callerOf, findKey, givenKey, type KeyRule, sha256 } from './keys.ts'
import { Limiter } from './limiter.ts'
import { Logins } from './logins.ts'
import { WrongKeys } from './wrong-keys.ts'

/** The rules for admitting requests. */
export interface Access extends Names {
  keys: readonly KeyRule[]
}

/** The refusal of a request, with the headers of its answer. */
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

function later(message: string, seconds: number): Refusal {
  return { fault: fault('overloaded', message), headers: { 'retry-after': String(seconds) } }
}

function openMessage(bound: string): string {
  return `${bound} is reachable from other machines, but there are no keys; add server.keys, or restart the gateway for another server.host`
}

/** Admits requests by their Host header, Origin, key or login, and rate. */
export class Gate {
  readonly #limiter: Limiter
  readonly #wrong: WrongKeys
  readonly #logins: Logins
  #access: Access

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(access: Access, now: () => number = () => performance.now()) {
    this.#access = access
    this.#limiter = new Limiter(now)
    this.#wrong = new WrongKeys(now)
    this.#logins = new Logins(now)
  }

  /**
   * Replaces keys and names; the used rates of clients stay. Throws an Error when that would admit everybody: the
   * address does not change, and off loopback there must be keys.
   */
  reload(access: Omit<Access, 'bound'>): void {
    const { bound } = this.#access
    if (access.keys.length === 0 && !isLoopback(bound)) throw new Error(openMessage(bound))
    this.#access = { ...access, bound }
    this.#limiter.keep(access.keys.map(({ name }) => name))
  }

  /**
   * The client that sent the request, or the refusal. Each call counts as one request of the client. `address` is its
   * source, undefined for a Unix socket. Without a key, the login of a page of this gateway counts; whether the request
   * comes from one also depends on its `method`.
   */
  admit(headers: Readonly<Record<string, string>>, address: string | undefined, method = 'POST'): Caller | Refusal {
    if (!hostAllowed(this.#access, headers)) return OTHER_MACHINE
    const given = givenKey(headers)
    const key = (given === undefined && this.#loggedIn(headers, method)) || findKey(this.#access.keys, given)
    const name = key && 'name' in key ? key.name : undefined
    const locked = key && given !== undefined && address !== undefined ? this.#wrong.tried(address, name) : 0
    if (locked > 0) return later(`Too many wrong keys came from this address; try again in ${locked} s.`, locked)
    if (key && 'code' in key) return { fault: key, headers: { 'www-authenticate': 'Bearer' } }
    const wait = key?.rate ? this.#limiter.take(key.name, key.rate) : 0
    if (wait > 0) return later(`This key has sent too many requests; send the next one in ${wait} s.`, wait)
    return callerOf(key)
  }

  /**
   * Has the rates of keys hold for all processes that share a store: `exchange` is given how many requests of each key
   * were taken here, and gives how many more others have taken since the last time.
   */
  async shareRates(
    exchange: (taken: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>,
  ): Promise<void> {
    if (!this.#access.keys.some(({ rate }) => rate)) return
    const more = await exchange(this.#limiter.taken)
    for (const { name, rate } of this.#access.keys) {
      const requests = more.get(name) ?? 0
      if (rate && requests > 0) this.#limiter.charge(name, rate, requests)
    }
  }

  /** True when clients need a key. */
  get hasKeys(): boolean {
    return this.#access.keys.length > 0
  }

  /**
   * Begins a login of a browser with this key and gives its id, or the refusal of the key. It counts as a request of the
   * key.
   */
  login(headers: Readonly<Record<string, string>>, address: string | undefined, key: string): string | Refusal {
    const { authorization: _, ...others } = headers
    const caller = this.admit({ ...others, 'x-api-key': key }, address)
    if ('fault' in caller) return caller
    return this.#logins.begin(sha256(key))
  }

  /** Ends a login; an unknown one is ignored. */
  logOut(login: string | undefined): void {
    if (login !== undefined) this.#logins.end(login)
  }

  /** The key of the login that a request brings. It ends when the key is no longer configured. */
  #loggedIn(headers: Readonly<Record<string, string>>, method: string): KeyRule | undefined {
    const login = loginOf(headers, method)
    const digest = login === undefined ? undefined : this.#logins.keyOf(login)
    return this.#access.keys.find((key) => key.sha256 === digest)
  }

  /** True when web pages of this origin may use the gateway. */
  allowsOrigin(origin: string): boolean {
    return this.#access.origins.includes(origin)
  }
}
