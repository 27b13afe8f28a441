import * as v from 'valibot'
import type { RpcAnswer } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Fault, fault, type JsonText, type Members, object, quote } from '../../../src/model/index.ts'
import { ACP_CODES, faultOfError, textOfError } from '../errors.ts'
import { SessionMade } from '../schema.ts'
import type { Connection } from './connection.ts'
import { type Place, samePlace } from './place.ts'
import { Settings } from './settings.ts'

/** Takes the outcome of opening a session: the fault that prevents it, or undefined. */
type Opened = (why: Fault | undefined) => void

/** The session that is needed, in its place: an earlier one or a copy of one, by the agent's own id of that, or a new one. */
interface Wanted {
  readonly bound: string | undefined
  readonly origin?: string | undefined
  readonly place: Place
}

/**
 * The session of an agent that turns run in: new, a copy, or an earlier one that the agent can load or resume. It is opened
 * when it is first needed.
 */
export class AgentSession {
  /** The agent's own id of it, once it is open. */
  id: string | undefined
  /** The earlier session that is being opened. */
  opening: string | undefined
  /** The agent repeats the history of that session, which is no answer. */
  replays = false
  /** It was opened, and not set yet as it is configured. */
  isNew = false
  readonly settings = new Settings()
  /** The sessions that were left: what the agent still says of one is nobody's loss. */
  readonly past = new Set<string>()
  /** The place that it was opened with. */
  place: Place | undefined
  readonly #connection: Connection
  readonly #ports: BackPorts
  /** The session that was left and not closed. */
  #left: string | undefined
  #waiting: { wanted: Wanted; then: Opened }[] | undefined
  /** It has had a prompt, and the gateway knows its id if another process can continue it. */
  #used = false

  constructor(connection: Connection, ports: BackPorts) {
    this.#connection = connection
    this.#ports = ports
  }

  /** True for the session that is open or being opened. One that is being made has no name yet. */
  is(session: unknown): boolean {
    const isMade = this.#waiting !== undefined && this.opening === undefined
    return isMade ? !this.past.has(String(session)) : session === (this.opening ?? this.id)
  }

  /** Opens the session that is wanted; then runs the step. */
  ensure(wanted: Wanted, then: Opened): void {
    if (this.#waiting) this.#waiting.push({ wanted, then })
    else if (this.#connection.dead) then(this.#connection.dead)
    else if (this.#fits(wanted)) then(undefined)
    else this.#open(wanted, then)
  }

  /** It gets a prompt: from now on the gateway remembers its id, if the agent can continue it in another process. */
  use(): void {
    if (this.#used || this.id === undefined) return
    this.#used = true
    if (this.#canLoad || this.#connection.offers('resume')) {
      this.#ports.emit({ turn: null, type: 'session-bound', agentSession: this.id })
    }
  }

  /** Leaves the session: the next prompt is for another one. */
  leave(): void {
    this.#left = this.id ?? this.#left
    if (this.id !== undefined) this.past.add(this.id)
    this.id = this.place = undefined
    this.#used = false
  }

  /** The agent deletes a session, which its process does not have from then on. */
  forget(id: string): void {
    if (id === this.id) this.leave()
    if (id === this.#left) this.#left = undefined
  }

  /** Closes the session that was left, if the agent can close sessions. */
  close(): void {
    if (this.#left !== undefined && this.#connection.offers('close')) {
      this.#connection.call('session/close', `{"sessionId":${quote(this.#left)}}`, () => {})
    }
    this.#left = undefined
  }

  /** True for the session that is open, unless it has had no prompt yet and is to work somewhere else. */
  #fits({ bound, origin, place }: Wanted): boolean {
    if (this.id === undefined || origin !== undefined || (bound !== undefined && bound !== this.id)) return false
    return this.#used || bound !== undefined || samePlace(place, this.place!)
  }

  #open(wanted: Wanted, then: Opened): void {
    this.leave()
    this.close()
    this.#waiting = []
    this.place = wanted.place
    const done: Opened = (why) => {
      const waiting = this.#waiting!
      this.#waiting = this.opening = undefined
      this.replays = false
      this.isNew = why === undefined
      then(why)
      for (const next of waiting) this.ensure(next.wanted, next.then)
    }
    const { bound, origin } = wanted
    const canCopy = origin === undefined || this.#connection.offers('fork')
    if (!canCopy) done(lost('cannot copy a session'))
    else if (bound === undefined) this.#make(origin, done)
    else if (this.#connection.offers('resume')) this.#goOn('session/resume', bound, done)
    else if (this.#canLoad) this.#goOn('session/load', bound, done)
    else done(lost('cannot go on with a session of an earlier process'))
  }

  get #canLoad(): boolean {
    return this.#connection.about?.agentCapabilities?.loadSession === true
  }

  /** Makes a session, or a copy of `origin`. */
  #make(origin: string | undefined, done: Opened): void {
    // Of one that has no prompt yet, anything but settings is the history.
    this.replays = true
    const params = this.#params({ sessionId: origin && quote(origin) })
    this.#connection.call(origin === undefined ? 'session/new' : 'session/fork', params, (answer) => {
      if (answer?.kind !== 'result') {
        done(this.#refusal(answer, origin))
        return
      }
      const made = v.safeParse(SessionMade, answer.result)
      if (!made.success || made.output.sessionId === origin) {
        done(fault('protocol-violation', 'The agent made a session without an id of its own.'))
        return
      }
      this.id = made.output.sessionId
      this.settings.opened(answer.result)
      done(undefined)
    })
  }

  #goOn(method: 'session/load' | 'session/resume', bound: string, done: Opened): void {
    this.opening = bound
    this.replays = method === 'session/load'
    this.#connection.call(method, this.#params({ sessionId: quote(bound) }), (answer) => {
      if (answer?.kind === 'result') {
        this.settings.opened(answer.result)
        const opened = (): void => {
          this.id = bound
          this.#used = true
          done(this.#connection.dead)
        }
        // The agent has repeated everything once it answers a request that it does not know.
        const repeats = method === 'session/load' && this.#connection.quirks.repeatsLate
        if (repeats) this.#connection.call('_turnpike/loaded', '{}', opened)
        else opened()
      } else if (answer && method === 'session/resume' && this.#canLoad) this.#goOn('session/load', bound, done)
      else done(this.#refusal(answer, bound))
    })
  }

  /** The fault of an answer that is invalid; `bound` is the session that the agent was to continue or copy. */
  #refusal(answer: Exclude<RpcAnswer, { kind: 'result' }> | undefined, bound?: string): Fault {
    if (!answer) return this.#connection.dead!
    if (answer.error.code === ACP_CODES.authRequired) return this.#connection.loginFault(textOfError(answer.error))
    const why = faultOfError(answer.error)
    if (bound === undefined || why.code.startsWith('provider-')) return why
    return lost(`does not go on with its session "${bound}" (${why.message})`)
  }

  #params(which: Members): JsonText {
    return object(which, this.place!.entries)
  }
}

/** The fault of a session that is lost: the engine goes on as its agent is configured to. */
function lost(what: string): Fault {
  return fault('session-not-found', `The agent ${what}.`, { retry: 'fresh-session' })
}
