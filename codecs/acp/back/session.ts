import * as v from 'valibot'
import type { RpcAnswer } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Fault, fault, type JsonText, object, quote } from '../../../src/model/index.ts'
import { faultOfError, textOfError } from '../errors.ts'
import { SessionMade, SessionState } from '../schema.ts'
import { type Connection, wantsLogin } from './connection.ts'

/** Takes the outcome of opening a session: the fault that prevents it, or undefined. */
type Opened = (why: Fault | undefined) => void

/**
 * The session of an agent that turns run in: new, or one of before that the agent can load or resume. It is opened when
 * it is first needed.
 */
export class AgentSession {
  /** The agent's own id of it, once it is open. */
  id: string | undefined
  /** The session whose history the agent repeats as it loads it: none of that is an answer. */
  loading: string | undefined
  /** What the agent said of its settings. */
  state: SessionState | undefined
  readonly #connection: Connection
  readonly #ports: BackPorts
  #waiting: { bound: string | undefined; then: Opened }[] | undefined

  constructor(connection: Connection, ports: BackPorts) {
    this.#connection = connection
    this.#ports = ports
  }

  /** Opens the session that the gateway remembers (`bound`), or a new one; then runs the step. */
  ensure(bound: string | undefined, then: Opened): void {
    if (this.#waiting) this.#waiting.push({ bound, then })
    else if (this.#connection.dead) then(this.#connection.dead)
    else if (this.id !== undefined && (bound === undefined || bound === this.id)) then(undefined)
    else this.#open(bound, then)
  }

  /** Forgets the session: the next turn gets a new one. */
  forget(): void {
    this.id = this.state = undefined
  }

  #open(bound: string | undefined, then: Opened): void {
    this.#waiting = []
    this.forget()
    const done: Opened = (why) => {
      const waiting = this.#waiting ?? []
      this.#waiting = this.loading = undefined
      then(why)
      for (const next of waiting) this.ensure(next.bound, next.then)
    }
    if (bound === undefined) this.#new(done)
    else if (this.#canResume) this.#goOn('session/resume', bound, done)
    else if (this.#canLoad) this.#load(bound, done)
    else done(lost('cannot go on with a session of an earlier process'))
  }

  get #canLoad(): boolean {
    return this.#connection.about?.agentCapabilities?.loadSession === true
  }

  get #canResume(): boolean {
    return isOffered(this.#connection.about?.agentCapabilities?.sessionCapabilities?.resume)
  }

  #new(done: Opened): void {
    this.#connection.call('session/new', this.#place([]), (answer) => {
      if (answer?.kind !== 'result') {
        done(this.#refusal(answer))
        return
      }
      const made = v.safeParse(SessionMade, answer.result)
      if (!made.success) {
        done(fault('protocol-violation', 'The agent made a session without an id.'))
        return
      }
      this.#opened(made.output.sessionId, answer.result)
      // Of an agent that cannot go on with it there is nothing to remember.
      if (this.#canLoad || this.#canResume) {
        this.#ports.emit({ turn: null, type: 'session-bound', agentSession: made.output.sessionId })
      }
      done(undefined)
    })
  }

  #load(bound: string, done: Opened): void {
    this.loading = bound
    this.#goOn('session/load', bound, done)
  }

  #goOn(method: string, bound: string, done: Opened): void {
    this.#connection.call(method, this.#place([['sessionId', quote(bound)]]), (answer) => {
      if (answer?.kind === 'result') {
        this.#opened(bound, answer.result)
        done(undefined)
      } else if (answer && method === 'session/resume' && this.#canLoad) this.#load(bound, done)
      else done(this.#refusal(answer, bound))
    })
  }

  #opened(id: string, result: unknown): void {
    this.id = id
    const state = v.safeParse(SessionState, result)
    this.state = state.success ? state.output : undefined
  }

  /** The fault of an answer that is none; `bound` is the session that the agent was to go on with. */
  #refusal(answer: Exclude<RpcAnswer, { kind: 'result' }> | undefined, bound?: string): Fault {
    if (!answer) return this.#connection.dead!
    if (wantsLogin(answer.error.code)) return this.#connection.loginFault(textOfError(answer.error))
    const why = faultOfError(answer.error)
    if (bound === undefined || why.code.startsWith('provider-')) return why
    return lost(`does not go on with its session "${bound}": ${why.message}`)
  }

  /** The parameters that say where a session works, after those that say which it is. */
  #place(which: readonly (readonly [string, JsonText])[]): JsonText {
    const { process, folder } = this.#connection.context
    return object([...which, ['cwd', quote(process?.cwd ?? folder)], ['mcpServers', '[]']])
  }
}

/** True for a capability that is there: `{}`, or whatever else it holds. */
export function isOffered(capability: unknown): boolean {
  return capability != null && capability !== false
}

/** The fault of a session that is lost: the engine goes on as its agent is configured to. */
function lost(what: string): Fault {
  return fault('session-not-found', `The agent ${what}.`, { retry: 'fresh-session' })
}
