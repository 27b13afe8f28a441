import * as v from 'valibot'
import { type Entry, messageLine } from '../../../src/codec-kit/index.ts'
import { argumentOf, type BackContext, type BackPorts, type CallEnd, type Frame } from '../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  isRecord,
  type JsonText,
  member,
  oneLine,
  parseObject,
  quote,
  type Stop,
} from '../../../src/model/index.ts'
import { ControlResponse, Initialized } from '../schema.ts'
import { pinsSession, processArgs, resumesSession } from './args.ts'
import { reasonOfExit } from './errors.ts'
import { UsageMeter } from './usage.ts'

/** The answer to a control request, with its payload as raw JSON; undefined when the process ended without one. */
export type Reply = { success: true; raw: JsonText } | { success: false; error: string } | undefined

/** A control request of the gateway, and what is remembered when the agent did it. */
export interface Step {
  subtype: string
  fields: readonly Entry[]
  /** It is on its way: what was known before is not known any more. */
  unset(): void
  done(): void
}

/** The reason why nothing can be sent any more, and the stop of a turn that this ends. */
export interface Death {
  reason: Fault
  stop: Stop
}

/** The time that the CLI waits for consent, in milliseconds: its longest, because the gateway has limits of its own. */
const CONSENT_MS = 600_000

/** The process of an agent: its start, the handshake, the session it is in, and the pairs of request and response. */
export class AgentWire {
  /** The model that the agent uses, as far as it is known. */
  model: string | undefined
  /** The session's own: what it was started with or a client set, for the turns that name none. */
  own: string | undefined
  effort: string | undefined
  /** The system prompt that the agent's conversation holds already. */
  system: string | undefined
  version: string | undefined
  /** The agent's own id of its session. */
  session: string | undefined
  /** Set once the process is gone for good. */
  dead: Death | undefined
  /** The agent's own reason why it cannot start. */
  refusal: Fault | undefined
  /** It may ignore further requests: the next turn needs another process. */
  suspect = false
  readonly meter = new UsageMeter()
  /** The client's settings for its session, by the subtype of the request; every new process gets them. */
  readonly settings = new Map<string, Step>()
  /** The settings that this process has not got yet, or has refused. */
  readonly unset = new Set<Step>()
  readonly #context: BackContext<unknown>
  readonly #ports: BackPorts
  readonly #configured: readonly string[]
  readonly #requests = new Map<string, { subtype: string; take: (reply: Reply) => void }>()
  /** The lines that wait for the answer to `initialize`; undefined once it came. */
  #waiting: (() => void)[] | undefined = []
  #resuming: string | undefined
  #starts = 0

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
    this.#configured = context.process?.args ?? []
    this.own = argumentOf(context, '--model', '-m')
    if (context.recorded) this.#waiting = undefined
  }

  /** The handshake is done. */
  get greeted(): boolean {
    return this.#waiting === undefined
  }

  /** Starts the process, in a new session or the one to go on with, and says hello. */
  open(resume?: string): void {
    this.#starts += 1
    this.#resuming = resume
    this.session = undefined
    // What the process before was set to, this one is not; a session without a past has not heard the system prompt.
    this.model = this.own
    this.effort = undefined
    if (resume === undefined) this.system = undefined
    this.suspect = false
    for (const step of this.settings.values()) this.unset.add(step)
    this.meter.reset(resume === undefined && !resumesSession(this.#configured))
    const call = this.#call
    this.#ports.open({
      ...(call !== undefined && { call }),
      kind: 'process',
      stdin: 'open',
      args: processArgs(this.#configured, resume),
      // Else the CLI starts itself again, and killing the outer process leaves the inner one at work.
      env: { QWEN_CODE_NO_RELAUNCH: '1' },
    })
    const fields: Entry[] = [
      ['hooks', 'null'],
      ['timeout', `{"canUseTool":${CONSENT_MS}}`],
    ]
    this.request('initialize', fields, (reply) => this.#greet(reply))
  }

  /** True when the process cannot serve the session that the gateway remembers, or is not to be trusted. */
  isElsewhere(bound: string | undefined): boolean {
    if (this.#context.recorded) return false
    if (this.suspect) return true
    return bound !== undefined && bound !== this.session && bound !== this.#resuming && !pinsSession(this.#configured)
  }

  /** Starts a process that goes on with the session, unless its arguments name one. */
  resume(session: string | undefined): void {
    this.open(pinsSession(this.#configured) ? undefined : session)
  }

  /** Leaves the process and starts another one that goes on with the session. */
  restart(session: string | undefined): void {
    this.#ports.end(this.#call)
    this.#waiting ??= []
    this.#forget()
    this.resume(session)
  }

  /** The session could not be gone on with: starts a process without a past. False when the end has another cause. */
  startedAnew(end: CallEnd): boolean {
    if (this.#resuming === undefined || this.greeted || end.why !== 'closed') return false
    this.#requests.clear()
    this.open()
    return true
  }

  /** True for what the current process wrote or its end, not for a process that was left. */
  isCurrent(call: string | undefined): boolean {
    return !this.dead && call === this.#call
  }

  /** The call that a frame came from. */
  callOf(frame: Frame): string | undefined {
    return typeof frame === 'string' ? undefined : frame.call
  }

  /** Runs the step once the agent has answered `initialize`, or has ended. */
  ready(step: () => void): void {
    if (this.#waiting) this.#waiting.push(step)
    else step()
  }

  /** Writes a line. */
  send(line: string): void {
    this.#ports.send(oneLine(line))
  }

  /** Sends a control request; `then` is called once, with its answer. */
  request(subtype: string, fields: readonly Entry[], then: (reply: Reply) => void): void {
    this.requestRaw(messageLine([['subtype', quote(subtype)], ...fields]), then)
  }

  /** Sends what a step says. */
  set(step: Step, then: (reply: Reply) => void): void {
    step.unset()
    this.request(step.subtype, step.fields, then)
  }

  /** The client set it for its session, in place of what it set before. */
  keep(step: Step): void {
    const before = this.settings.get(step.subtype)
    if (before) this.unset.delete(before)
    this.settings.set(step.subtype, step)
  }

  /** Sends a control request whose `request` is there as JSON. */
  requestRaw(request: JsonText, then: (reply: Reply) => void): void {
    if (this.dead) {
      then(undefined)
      return
    }
    const id = `turnpike-${this.#ports.newId()}`
    this.#requests.set(id, { subtype: String(parseObject(request)?.['subtype']), take: then })
    this.send(`{"type":"control_request","request_id":${quote(id)},"request":${request}}`)
  }

  /** Answers a control request of the agent; `id` as the agent wrote it. */
  answer(id: JsonText, payload: JsonText): void {
    this.send(`{"type":"control_response","response":{"subtype":"success","request_id":${id},"response":${payload}}}`)
  }

  /** Answers it with an error, which the agent takes as a refusal. */
  refuse(id: JsonText, error: string): void {
    this.send(`{"type":"control_response","response":{"subtype":"error","request_id":${id},"error":${quote(error)}}}`)
  }

  /** Takes a `control_response`: `stray` when nothing waits for it. */
  response(value: Record<string, unknown>, json: string): 'taken' | 'stray' | 'misfit' {
    const { success, output } = v.safeParse(ControlResponse, value)
    if (!success) return 'misfit'
    const { subtype, error } = output.response
    const raw = member(member(json, 'response')!, 'response') ?? '{}'
    const id = this.#context.recorded ? this.#recordedId(raw) : output.response.request_id
    const request = this.#requests.get(id)
    if (!request) return 'stray'
    this.#requests.delete(id)
    request.take(subtype === 'success' ? { success: true, raw } : { success: false, error: errorText(error) })
    return 'taken'
  }

  /**
   * The id of the request that a recorded answer is about: the oldest of the subtype that it names. One that names none
   * answers the oldest, but never the greeting, which always names it.
   */
  #recordedId(raw: JsonText): string {
    const named = parseObject(raw)?.['subtype']
    const waiting = [...this.#requests]
    const fits = (subtype: string): boolean => (named === undefined ? subtype !== 'initialize' : subtype === named)
    return waiting.find(([, { subtype }]) => fits(subtype))?.[0] ?? ''
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
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    this.#forget()
    for (const step of waiting) step()
  }

  get #call(): string | undefined {
    return this.#starts <= 1 ? undefined : `process-${this.#starts}`
  }

  /** Whoever waits for an answer of the process learns that there is none. */
  #forget(): void {
    const requests = [...this.#requests.values()]
    this.#requests.clear()
    for (const { take } of requests) take(undefined)
  }

  #greet(reply: Reply): void {
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
    const waiting = this.#waiting
    this.#waiting = undefined
    for (const step of waiting ?? []) step()
  }
}

function errorText(error: unknown): string {
  const text = isRecord(error) ? error['message'] : error
  return typeof text === 'string' && text !== '' ? text : 'The agent refused the request.'
}
