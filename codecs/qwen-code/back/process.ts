import * as v from 'valibot'
import {
  type ControlReply,
  ControlRequests,
  controlResponse,
  hasFlag,
  withDefaultFlags,
} from '../../../src/codec-kit/index.ts'
import { argumentOf, type BackContext, type BackPorts, type CallEnd } from '../../../src/contract/index.ts'
import { type Fault, fault, type JsonText, type Stop } from '../../../src/model/index.ts'
import { Initialized } from '../schema.ts'
import { reasonOfExit } from './errors.ts'
import { Settings } from './settings.ts'
import { UsageMeter } from './usage.ts'

/** The reason why nothing can be sent any more, and the stop of a turn that this ends. */
export interface Death {
  reason: Fault
  stop: Stop
}

/** Arguments of a session that has a past; with `--session-id`, those that name a session. */
const RESUMING = ['--resume', '-r', '--continue', '-c', '--fork-session']

/** The arguments that this dialect needs. The approval mode is always given: its default differs between versions. */
const DEFAULTS = [
  { add: ['--input-format', 'stream-json'] },
  { add: ['--output-format', 'stream-json'], unless: ['-o'] },
  { add: ['--include-partial-messages'] },
  { add: ['--approval-mode', 'default'], unless: ['--yolo', '-y'] },
] as const

/** `canUseTool`: the CLI's longest time for consent, in milliseconds, because the gateway has limits of its own. */
const GREETING = [
  ['hooks', 'null'],
  ['timeout', '{"canUseTool":600000}'],
] as const

/** True when the configured arguments themselves say which session the process works in. */
export function pinsSession(configured: readonly string[] = []): boolean {
  return hasFlag(configured, ['--session-id', ...RESUMING])
}

/** The process of an agent: its start, the handshake, the session it is in, and its end. */
export class CliProcess {
  /** The agent's own id of its session. */
  session: string | undefined
  /** Set once the process is gone for good. */
  dead: Death | undefined
  /** The agent's own reason why it cannot start. */
  refusal: Fault | undefined
  /** It may ignore further requests: the next turn needs another process. */
  suspect = false
  readonly settings: Settings
  readonly requests: ControlRequests
  readonly meter = new UsageMeter()
  readonly #context: BackContext<unknown>
  readonly #ports: BackPorts
  /** The steps that wait for the answer to `initialize`; undefined once it came. */
  #waiting: (() => void)[] | undefined = []
  #resuming: string | undefined
  #starts = 0

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
    this.settings = new Settings(argumentOf(context, '--model', '-m'))
    this.requests = new ControlRequests(ports, context.recorded !== undefined)
    if (context.recorded) this.#waiting = undefined
  }

  /** Its messages were meant for another client. */
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
    const resume = pinsSession(configured) ? undefined : session
    this.#starts += 1
    this.#resuming = resume
    this.session = undefined
    this.suspect = false
    this.settings.reset(resume === undefined)
    this.meter.reset(resume === undefined && !hasFlag(configured, RESUMING))
    const call = this.#call
    const args = withDefaultFlags(configured, DEFAULTS)
    this.#ports.open({
      ...(call !== undefined && { call }),
      kind: 'process',
      stdin: 'open',
      args: resume === undefined ? args : [...args, '--resume', resume],
      // Else the CLI starts itself again, and killing the outer process leaves the inner one at work.
      env: { QWEN_CODE_NO_RELAUNCH: '1' },
    })
    this.requests.send('initialize', GREETING, (reply) => this.#greet(reply))
  }

  /** True when the process cannot serve the session that the gateway remembers, or is not to be trusted. */
  isElsewhere(bound: string | undefined): boolean {
    const isOther = bound !== undefined && bound !== this.session && bound !== this.#resuming
    return !this.recorded && (this.suspect || (isOther && !pinsSession(this.#context.process?.args)))
  }

  /** Leaves the process and starts another one that goes on with the session. */
  restart(session: string | undefined): void {
    this.#ports.end(this.#call)
    this.#waiting ??= []
    this.requests.forget()
    this.open(session)
  }

  /** The session could not be gone on with: starts a process without a past. False when the end has another cause. */
  startedAnew(end: CallEnd): boolean {
    if (this.#resuming === undefined || this.greeted || end.why !== 'closed') return false
    this.requests.forget()
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

  /** Answers a control request of the agent, which takes an error for a refusal; `id` as the agent wrote it. */
  respond(id: JsonText, said: { payload: JsonText } | { error: string }): void {
    this.#ports.send(controlResponse(id, said))
  }

  /** The fault of a turn that the end of the process leaves unanswered. */
  reasonOf(end: CallEnd): Death {
    if (end.why !== 'closed' || end.fault || this.greeted) return reasonOfExit(end)
    const text = `The Qwen Code agent "${this.#context.agent}" ended before it answered initialize: check its arguments, its model and its credentials (its stderr is in the gateway log).`
    return { reason: this.refusal ?? fault('agent-unavailable', text, { retryable: false }), stop: 'error' }
  }

  /** Nothing is sent any more; everything that waits for an answer learns that there is none. */
  die(dead: Death): void {
    this.dead = dead
    this.requests.forget()
    this.#go()
  }

  /** Runs the steps that waited for the greeting, or for the end before it. */
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
      this.refusal = fault('agent-unavailable', `The agent refused initialize: ${reply.error}`, { retryable: false })
      this.die({ reason: this.refusal, stop: 'error' })
      this.#ports.broken(this.refusal)
      return
    }
    const known = v.safeParse(Initialized, JSON.parse(reply.raw))
    if (known.success) this.session = known.output.session_id
    this.#ports.emit({ turn: null, type: 'agent-ready', json: reply.raw })
    this.#go()
  }
}
