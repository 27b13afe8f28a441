import type { BackContext, BackPorts, CallEnd } from '../contract/index.ts'
import { type Fault, fault, type JsonText, type Members, type Stop } from '../model/index.ts'
import { type DefaultFlags, hasFlag, withDefaultFlags } from './arguments.ts'
import { type ControlReply, ControlRequests } from './control-requests.ts'
import { Handshake } from './handshake.ts'

const GONE = fault('agent-crashed', "The agent's process ended before it had answered; try again.")

/** Facts of a program that reads and writes JSON lines with control messages. */
export interface StreamJsonProgram {
  /** Its name, and what its user should check when it does not start, for messages. */
  readonly name: string
  readonly check: string
  /** The flags that say which session a process works in. */
  readonly pinning: readonly string[]
  /** The flags that its protocol needs. */
  readonly flags: DefaultFlags
  readonly env?: Readonly<Record<string, string>>
  /** The members of `initialize`. */
  readonly greeting: Members
}

/**
 * The process of such an agent: its start, the handshake, the session it is in, and its end. A session that the gateway
 * remembers continues in a new process (`--resume`).
 */
export abstract class StreamJsonProcess {
  /** The agent's own id of its session, once it is known. */
  session: string | undefined
  /** Set once no process follows any more. */
  dead: Fault | undefined
  readonly controls: ControlRequests
  readonly handshake: Handshake
  readonly #program: StreamJsonProgram
  readonly #context: BackContext<unknown>
  readonly #ports: BackPorts
  #resuming: string | undefined
  #starts = 0

  constructor(program: StreamJsonProgram, context: BackContext<unknown>, ports: BackPorts) {
    this.#program = program
    this.#context = context
    this.#ports = ports
    this.controls = new ControlRequests(ports, context.recorded)
    this.handshake = new Handshake(context, 'initialize')
  }

  /** A process begins; `resumes` says whether it continues a session. */
  protected abstract began(resumes: boolean): void

  /** The agent has answered `initialize`; emits that it is ready. */
  protected abstract greeted(answer: JsonText): void

  /** Set when its messages were meant for another client. */
  get recorded(): 'agent' | 'both' | undefined {
    return this.#context.recorded
  }

  /**
   * Starts the process, with the session to continue or to copy unless its arguments name one, and sends the greeting.
   */
  open(session?: string, how?: 'copy'): void {
    const { flags, env, greeting } = this.#program
    const configured = this.#context.process?.args ?? []
    const resuming = this.isPinned ? undefined : session
    this.#resuming = resuming
    this.#starts += 1
    this.session = undefined
    this.began(resuming !== undefined)
    const args = withDefaultFlags(configured, flags)
    const call = this.#call
    this.#ports.open({
      ...(call !== undefined && { call }),
      kind: 'process',
      stdin: 'open',
      args: resuming === undefined ? args : [...args, '--resume', resuming, ...(how ? ['--fork-session'] : [])],
      ...(env && { env }),
    })
    this.controls.send('initialize', greeting, (reply) => this.#greet(reply))
  }

  /** True when its configured arguments say which session it works in. */
  get isPinned(): boolean {
    return hasFlag(this.#context.process?.args ?? [], this.#program.pinning)
  }

  /** True when the process cannot serve the session that the gateway remembers. */
  isElsewhere(bound: string | undefined): boolean {
    const isOther = bound !== undefined && bound !== this.session && bound !== this.#resuming
    return isOther && !this.recorded && !this.isPinned
  }

  /** Leaves the process and starts another one that continues the session, or a copy of it. */
  restart(session: string | undefined, how?: 'copy'): void {
    this.#ports.end(this.#call)
    this.handshake.again()
    this.controls.forget()
    this.open(session, how)
  }

  /** The session could not be continued: starts a process with a new session. False when the end has another cause. */
  startedAnew(end: CallEnd): boolean {
    if (this.#resuming === undefined || this.handshake.done || end.why !== 'closed') return false
    this.controls.forget()
    this.open()
    return true
  }

  /** True for what the current process wrote, and for its end; false for those of one that was left. */
  isCurrent(call: string | undefined): boolean {
    return !this.dead && call === this.#call
  }

  /** The fault of a command that the agent has refused, or has not answered before its end. */
  faultOf(reply: { error: string } | undefined): Fault {
    return reply ? fault('invalid-request', reply.error) : (this.dead ?? GONE)
  }

  /** The fault of a turn that the end of the process leaves unanswered. */
  reasonOf(end: CallEnd): Fault {
    const { name, check } = this.#program
    return this.handshake.reasonOf(end, `${name} agent "${this.#context.agent}"`, check)
  }

  /** The stop of that turn; undefined when only the fault says why it ended. */
  stopOf(_end: CallEnd): Stop | undefined {
    return undefined
  }

  /** Nothing is sent any more; waiting requests learn that there is no answer. */
  die(reason: Fault): void {
    this.dead = reason
    this.controls.forget()
    this.handshake.end()
  }

  get #call(): string | undefined {
    return this.#starts <= 1 ? undefined : `process-${this.#starts}`
  }

  #greet(reply: ControlReply): void {
    if (!reply) return
    if (!reply.success) {
      const reason = fault('agent-unavailable', `The agent refused initialize: ${reply.error}`, { retryable: false })
      this.die(reason)
      this.#ports.broken(reason)
      return
    }
    this.greeted(reply.raw)
    this.handshake.end()
  }
}
