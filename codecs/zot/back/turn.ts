import { type BodyOf, isUncounted, numberedIds, ToolCalls } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  append,
  type Ext,
  type Fault,
  fault,
  type Id,
  member,
  type Part,
  type Stop,
  type TurnEvent,
} from '../../../src/model/index.ts'
import { readContent } from '../content.ts'
import { faultOfText } from '../errors.ts'
import { PROTOCOL } from '../wire.ts'
import { UsageSum, usageOf } from './usage.ts'

const STOPS: ReadonlyMap<string, Stop> = new Map([
  ['end', 'end'],
  ['end_turn', 'end'],
  ['tool_use', 'tool-use'],
  ['length', 'max-tokens'],
  ['error', 'error'],
  ['aborted', 'aborted'],
])

/**
 * One prompt or compact of the agent as canonical events. The wire names no prompt, so the link hands the messages over
 * in their order; `ended` is true once the turn has its end.
 */
export class TurnDecoder {
  readonly turn: Id
  readonly task: 'prompt' | 'compact'
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  readonly #ports: BackPorts
  readonly #tools = new ToolCalls(numberedIds())
  readonly #usage = new UsageSum()
  #step: number | undefined
  #message: Id | undefined
  #stop: Stop | undefined
  #stopError: string | undefined
  #failure: Fault | undefined
  #failureStop: Stop = 'error'
  #spoke = false
  #spokeInStep = false
  #uncountedStep = false

  constructor(ports: BackPorts, turn: Id, task: 'prompt' | 'compact') {
    this.#ports = ports
    this.turn = turn
    this.task = task
  }

  /** The agent took the prompt up. */
  started(): void {
    this.#emit({ type: 'turn-started' })
  }

  /** `text_delta`: the hot path. */
  text(text: string, ext: Ext | undefined): void {
    if (text === '') return
    const message = this.#message ?? this.assistantStart(undefined)
    this.#spoke = true
    this.#spokeInStep = true
    if (ext === undefined) this.#ports.emit({ turn: this.turn, type: 'text-delta', message, text })
    else this.#ports.emit({ turn: this.turn, type: 'text-delta', message, text, ext })
  }

  /** `turn_start`: a model call begins; whatever the one before left open is over. */
  turnStart(step: number, ext: Ext | undefined): void {
    this.#closeMessage()
    if (this.#step !== undefined) this.#emit({ type: 'step-end', step: this.#step, stop: 'end' })
    this.#step = step
    this.#stop = undefined
    this.#spokeInStep = false
    this.#uncountedStep = false
    this.#emit({ type: 'step-start', step }, ext)
  }

  /** `assistant_start`. Gives the message's id. */
  assistantStart(ext: Ext | undefined): Id {
    this.#closeMessage()
    const message = this.#ports.newId()
    this.#message = message
    this.#emit({ type: 'message-start', message, role: 'assistant' }, ext)
    return message
  }

  /** `assistant_message`: all that the model said in this call; `line` is its raw text. */
  assistantMessage(line: string, ext: Ext | undefined): void {
    const message = this.#message ?? this.assistantStart(undefined)
    this.#message = undefined
    const parts = this.#endMessage(message, line, ext)
    const spoke = parts.some((part) => part.type === 'text' && part.text !== '')
    this.#spoke ||= spoke
    this.#spokeInStep ||= spoke
  }

  /** `user_message`: the prompt, or what the agent itself put into the transcript. */
  userMessage(line: string, ext: Ext | undefined): void {
    const message = this.#ports.newId()
    this.#emit({ type: 'message-start', message, role: 'user' })
    this.#endMessage(message, line, ext)
  }

  /** `tool_use_start`: the model begins to write a call. */
  toolUseStart(id: string, name: string, ext: Ext | undefined): void {
    const tool = this.#tools.start(id)
    const message = this.#message
    this.#emit({ type: 'tool-start', tool, ...(message !== undefined && { message }), name, executor: 'agent' }, ext)
  }

  /** `tool_use_args`; false when there is no such call. */
  toolUseArgs(id: string, text: string, ext: Ext | undefined): boolean {
    const tool = this.#tools.drafting(id)
    if (tool === undefined) return false
    this.#emit({ type: 'tool-args-delta', tool, text }, ext)
    return true
  }

  /** `tool_call`: the whole call, run or not. */
  toolCall(id: string, name: string, line: string, ext: Ext | undefined): void {
    const args = member(line, 'args') ?? '{}'
    this.#emit({ type: 'tool-call', tool: this.#tools.call(id), name, args, executor: 'agent' }, ext)
  }

  /** `tool_progress`: a raw piece of the tool's output; false when there is no such call. */
  toolProgress(id: string, text: string, ext: Ext | undefined): boolean {
    const tool = this.#tools.running(id)
    if (tool === undefined) return false
    this.#emit({ type: 'tool-progress', tool, parts: [{ type: 'text', text }] }, ext)
    return true
  }

  /** `tool_result`; false when there is no such call. */
  toolResult(id: string, failed: boolean, line: string, ext: Ext | undefined): boolean {
    const tool = this.#tools.end(id)
    if (tool === undefined) return false
    const { parts, ext: all } = this.#content(line, ext)
    this.#emit({ type: 'tool-end', tool, status: failed ? 'error' : 'ok', parts }, all)
    return true
  }

  /** `usage` of one model call. Zeros are what the agent says when it does not know. */
  usage(event: unknown, ext: Ext | undefined): void {
    const usage = usageOf(event, (loss) => this.#ports.report(loss, this.turn))
    if (isUncounted(usage)) {
      this.#uncountedStep = true
      this.#usage.add(undefined)
      return
    }
    this.#usage.add(usage)
    this.#emit({ type: 'usage', scope: 'call', usage }, ext)
  }

  /** `turn_end`: the model call is over; `stop` and `error` in the agent's words. */
  turnEnd(said: string, error: string | undefined, ext: Ext | undefined): void {
    this.#closeMessage()
    const known = STOPS.get(said)
    const asked = this.cancelAsked && known === 'error'
    const stop = asked ? 'aborted' : (known ?? 'end')
    this.#stop = stop
    this.#stopError = error
    if (this.#spokeInStep && this.#uncountedStep && stop !== 'error' && stop !== 'aborted') this.#doubt()
    if (this.#step === undefined) return
    const all = known ? ext : add(ext, `{"stop":${JSON.stringify(said)}}`)
    this.#emit({ type: 'step-end', step: this.#step, stop }, all)
    this.#step = undefined
  }

  /** `error`: for a prompt, `done` still follows; for a compact it is the end. */
  error(message: string, ext: Ext | undefined): void {
    if (this.#failure) {
      this.#emit({ type: 'notice', severity: 'error', code: 'agent-error', text: message }, ext)
      return
    }
    this.#failure = faultOfText(message, ext)
    // Between a tool and the next model call only the limit of steps raises an error.
    if (this.#step === undefined && this.#stop === 'tool-use') this.#failureStop = 'max-turns'
    if (this.task === 'compact') this.finish(undefined)
  }

  /** `compact_done`: the end of a compact; false when a prompt runs. */
  compactDone(summary: string, ext: Ext | undefined): boolean {
    if (this.task !== 'compact') return false
    if (this.cancelAsked) this.finish(ext)
    else this.#end({ type: 'turn-end', outcome: 'completed', stop: 'end', summary }, ext)
    return true
  }

  /** `done`, or whatever else ends the turn. */
  finish(ext: Ext | undefined): void {
    this.#closeMessage()
    if (this.cancelAsked) this.cancelled(ext)
    else if (this.#failure) this.#fail(this.#failure, this.#failureStop, ext)
    else if (this.#stop === 'error') {
      this.#fail(faultOfText(this.#stopError ?? 'The agent ended the turn with an error.'), 'error', ext)
    } else if (this.#stop === 'aborted' || this.#stop === 'tool-use') {
      // Nothing here asked for it, yet this is how an abort looks: the agent was stopped from elsewhere.
      this.cancelled(ext)
    } else if (this.task === 'compact') {
      this.#fail(fault('internal', 'The agent ended the compaction without a summary.'), 'error', ext)
    } else {
      if (!this.#spoke) {
        const text = 'The agent ended the turn without any text.'
        this.#emit({ type: 'notice', severity: 'info', code: 'empty-answer', text })
      }
      this.#end({ type: 'turn-end', outcome: 'completed', stop: this.#stop ?? 'end' }, ext)
    }
  }

  /** The turn ended because it was cancelled. */
  cancelled(ext?: Ext): void {
    this.#end({ type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }, ext)
  }

  /** The turn never ran, or its process is gone. What the agent said of the failure itself is better than `reason`. */
  fail(reason: Fault): void {
    if (this.cancelAsked) this.cancelled()
    else this.#fail(this.#failure ?? reason, 'error')
  }

  #fail(reason: Fault, stop: Stop, ext?: Ext): void {
    this.#end({ type: 'turn-end', outcome: 'failed', stop, fault: reason }, ext)
  }

  #end(end: BodyOf<Extract<TurnEvent, { type: 'turn-end' }>>, ext: Ext | undefined): void {
    const total = this.#usage.total
    if (total) this.#emit({ type: 'usage', scope: 'turn', ...total })
    this.ended = true
    this.#emit(end, ext)
  }

  /** A provider's connection that broke looks like a normal end but for its usage. */
  #doubt(): void {
    const text =
      'The agent reported no usage for this answer: the connection to its provider may have broken, and the answer may be incomplete.'
    this.#emit({ type: 'notice', severity: 'warning', code: 'partial-answer', text })
  }

  #closeMessage(): void {
    if (this.#message === undefined) return
    this.#emit({ type: 'message-end', message: this.#message })
    this.#message = undefined
  }

  #endMessage(message: Id, line: string, ext: Ext | undefined): readonly Part[] {
    const { parts, ext: all } = this.#content(line, ext)
    this.#emit({ type: 'message-end', message, parts }, all)
    return parts
  }

  /** The content of a message; blocks that parts cannot say whole ride along as they came. */
  #content(line: string, ext: Ext | undefined): { parts: readonly Part[]; ext: Ext | undefined } {
    const raw = member(line, 'content')
    const { parts, exact } = readContent(raw, this.#tools.namer())
    return { parts, ext: exact ? ext : add(ext, `{"content":${raw}}`) }
  }

  #emit(event: BodyOf<TurnEvent>, ext?: Ext): void {
    const whole = { turn: this.turn, ...event } as TurnEvent
    this.#ports.emit(ext === undefined ? whole : { ...whole, ext })
  }
}

function add(ext: Ext | undefined, json: string): Ext {
  return { protocol: PROTOCOL, json: append(ext?.json ?? '{}', json) }
}
