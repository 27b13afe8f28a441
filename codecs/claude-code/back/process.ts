import { type ControlReply, ControlRequests, hasFlag, withDefaultFlags } from '../../../src/codec-kit/index.ts'
import { argumentOf, type BackContext, type BackPorts, type CallEnd, faultOfEnd } from '../../../src/contract/index.ts'
import { type Fault, fault, type JsonText } from '../../../src/model/index.ts'
import { ProcessUsage } from './usage.ts'

/** Arguments that say which session the process works in. */
const PINNING = ['--session-id', '--resume', '-r', '--continue', '-c', '--from-pr']

/** The arguments that this protocol needs. */
const DEFAULTS = [
  { add: ['-p'], unless: ['--print'] },
  { add: ['--input-format', 'stream-json'] },
  { add: ['--output-format', 'stream-json'] },
  { add: ['--verbose'] },
  { add: ['--include-partial-messages'] },
  { add: ['--permission-prompt-tool', 'stdio'] },
] as const

/** True when the configured arguments themselves say which session the process works in. */
export function pinsSession(configured: readonly string[] = []): boolean {
  return hasFlag(configured, PINNING)
}

/** The process of an agent: its start, the handshake, the session it is in, and its end. */
export class ClaudeProcess {
  /** The agent's own id of its session, once a turn was in it. */
  session: string | undefined
  /** Set once the process is gone for good. */
  dead: Fault | undefined
  /** The system prompt that the conversation holds already. */
  instructions: string | undefined
  /** The agent's answer to the handshake. */
  greeting: JsonText = '{}'
  /** The model that the process is set to, and the one that it began with. */
  readonly model: { own: string | undefined; now: string | undefined } = { own: undefined, now: undefined }
  readonly usage = new ProcessUsage()
  readonly controls: ControlRequests
  readonly #context: BackContext<unknown>
  readonly #ports: BackPorts
  /** The steps that wait for the answer to `initialize`; undefined once it came. */
  #waiting: (() => void)[] | undefined = []
  #resuming: string | undefined
  #starts = 0

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
    this.controls = new ControlRequests(ports, context.recorded !== undefined)
    if (context.recorded) this.#waiting = undefined
  }

  get recorded(): 'agent' | 'both' | undefined {
    return this.#context.recorded
  }

  /** The handshake is done. */
  get greeted(): boolean {
    return this.#waiting === undefined
  }

  /** Starts the process, with the session to go on with unless its arguments name one, and says hello. */
  open(session?: string): void {
    const configured = this.#context.process?.args ?? []
    this.#resuming = pinsSession(configured) ? undefined : session
    this.#starts += 1
    this.session = undefined
    this.usage.reset()
    this.model.own = argumentOf(this.#context, '--model')
    this.model.now = this.model.own
    const args = withDefaultFlags(configured, DEFAULTS)
    const call = this.#call
    this.#ports.open({
      ...(call !== undefined && { call }),
      kind: 'process',
      stdin: 'open',
      args: this.#resuming === undefined ? args : [...args, '--resume', this.#resuming],
    })
    this.controls.send('initialize', [['hooks', 'null']], (reply) => this.#greet(reply))
  }

  /** True when the process cannot serve the session that the gateway remembers. */
  isElsewhere(bound: string | undefined): boolean {
    const isOther = bound !== undefined && bound !== this.session && bound !== this.#resuming
    return !this.recorded && isOther && !pinsSession(this.#context.process?.args)
  }

  /** Leaves the process and starts another one that goes on with the session. */
  restart(session: string | undefined): void {
    this.#ports.end(this.#call)
    this.#waiting ??= []
    this.controls.forget()
    this.open(session)
  }

  /** The session could not be gone on with: starts a process without a past. False when the end has another cause. */
  startedAnew(end: CallEnd): boolean {
    if (this.#resuming === undefined || this.greeted || end.why !== 'closed') return false
    this.controls.forget()
    this.open()
    return true
  }

  /** True for what the current process wrote, and for its end; false for those of one that was left. */
  isCurrent(call: string | undefined): boolean {
    return !this.dead && call === this.#call
  }

  /** Runs the step once the agent has answered `initialize`, or has ended. */
  ready(step: () => void): void {
    if (this.#waiting) this.#waiting.push(step)
    else step()
  }

  /** The fault of a turn that the end of the process leaves unanswered. */
  reasonOf(end: CallEnd): Fault {
    if (end.why !== 'closed' || end.fault || this.greeted) return faultOfEnd(end)
    const text = `The Claude Code agent "${this.#context.agent}" ended before it answered initialize: check its arguments and its login (its stderr is in the gateway log).`
    return fault('agent-unavailable', text, { retryable: false })
  }

  /** Nothing is sent any more; everything that waits for an answer learns that there is none. */
  die(reason: Fault): void {
    this.dead = reason
    this.controls.forget()
    this.#go()
  }

  #go(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const step of waiting) step()
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
    this.greeting = reply.raw
    this.#ports.emit({ turn: null, type: 'agent-ready' })
    this.#go()
  }
}
