import {
  CANCELLED,
  type Ending,
  failedWith,
  isUncounted,
  numberedIds,
  ToolCalls,
  TurnEmitter,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { append, type Ext, type Fault, fault, type Id, member, type Part, type Stop } from '../../../src/model/index.ts'
import { readContent } from '../content.ts'
import { faultOfText } from '../errors.ts'
import { PROTOCOL } from '../wire.ts'
import { UsageSum, usageOf } from './usage.ts'

const STOPS = wordTable<Stop>({
  end: 'end',
  end_turn: 'end',
  tool_use: 'tool-use',
  length: 'max-tokens',
  error: 'error',
  aborted: 'aborted',
})

const DOUBT =
  'The agent reported no usage for this answer: the connection to its provider may have broken, and the answer may be incomplete.'

/**
 * One prompt or compact of the agent as canonical events. The wire names no prompt, so the link hands the messages over
 * in their order; `ended` is true once the turn has its end.
 */
export class TurnDecoder {
  readonly task: 'prompt' | 'compact'
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  readonly #out: TurnEmitter
  readonly #tools = new ToolCalls(numberedIds())
  readonly #usage = new UsageSum()
  /** The newest model call; `step` is undefined when it is over. */
  #call: { step: number | undefined; spoke: boolean; uncounted: boolean } = {
    step: undefined,
    spoke: false,
    uncounted: false,
  }
  /** The end of the newest model call, in the agent's words. */
  #stopped: { stop: Stop; error: string | undefined } | undefined
  #failure: { fault: Fault; stop: Stop } | undefined
  #spoke = false

  constructor(ports: BackPorts, turn: Id, task: 'prompt' | 'compact') {
    this.#out = new TurnEmitter(ports, turn)
    this.task = task
  }

  get turn(): Id {
    return this.#out.turn
  }

  /** The agent took the prompt up. */
  started(): void {
    this.#out.started()
  }

  /** `text_delta`: the hot path. */
  text(text: string, ext: Ext | undefined): void {
    if (text === '') return
    this.#out.text(text, ext)
    this.#spoke = true
    this.#call.spoke = true
  }

  /** `turn_start`: a model call begins and ends what the last one left open. */
  turnStart(step: number, ext: Ext | undefined): void {
    this.#out.closeMessage()
    const { step: open } = this.#call
    if (open !== undefined) this.#out.emit({ type: 'step-end', step: open, stop: 'end' })
    this.#call = { step, spoke: false, uncounted: false }
    this.#stopped = undefined
    this.#out.emit({ type: 'step-start', step }, ext)
  }

  /** `assistant_start`. */
  assistantStart(ext: Ext | undefined): void {
    this.#out.openMessage(ext)
  }

  /** `assistant_message`: all that the model said in this call; `line` is its raw text. */
  assistantMessage(line: string, ext: Ext | undefined): void {
    if (this.#out.message === undefined) this.#out.openMessage()
    const { parts, ext: all } = this.#content(line, ext)
    this.#out.closeMessage(parts, all)
    const spoke = parts.some((part) => part.type === 'text' && part.text !== '')
    this.#spoke ||= spoke
    this.#call.spoke ||= spoke
  }

  /** `user_message`: the prompt, or what the agent itself put into the transcript. */
  userMessage(line: string, ext: Ext | undefined): void {
    const message = this.#out.ports.newId()
    this.#out.emit({ type: 'message-start', message, role: 'user' })
    const { parts, ext: all } = this.#content(line, ext)
    this.#out.emit({ type: 'message-end', message, parts }, all)
  }

  /** `tool_use_start`: the model begins to write a call. */
  toolUseStart(id: string, name: string, ext: Ext | undefined): void {
    const tool = this.#tools.start(id)
    const { message } = this.#out
    this.#out.emit(
      { type: 'tool-start', tool, ...(message !== undefined && { message }), name, executor: 'agent' },
      ext,
    )
  }

  /** `tool_use_args`; false when there is no such call. */
  toolUseArgs(id: string, text: string, ext: Ext | undefined): boolean {
    const tool = this.#tools.drafting(id)
    if (tool === undefined) return false
    this.#out.emit({ type: 'tool-args-delta', tool, text }, ext)
    return true
  }

  /** `tool_call`: the whole call, run or not. */
  toolCall(id: string, name: string, line: string, ext: Ext | undefined): void {
    const args = member(line, 'args') ?? '{}'
    this.#out.emit({ type: 'tool-call', tool: this.#tools.call(id), name, args, executor: 'agent' }, ext)
  }

  /** `tool_progress`: a raw piece of the tool's output; false when there is no such call. */
  toolProgress(id: string, text: string, ext: Ext | undefined): boolean {
    const tool = this.#tools.running(id)
    if (tool === undefined) return false
    this.#out.emit({ type: 'tool-progress', tool, parts: [{ type: 'text', text }] }, ext)
    return true
  }

  /** `tool_result`; false when there is no such call. */
  toolResult(id: string, failed: boolean, line: string, ext: Ext | undefined): boolean {
    const tool = this.#tools.end(id)
    if (tool === undefined) return false
    const { parts, ext: all } = this.#content(line, ext)
    this.#out.emit({ type: 'tool-end', tool, status: failed ? 'error' : 'ok', parts }, all)
    return true
  }

  /** `usage` of one model call. Zeros are what the agent says when it does not know. */
  usage(event: unknown, ext: Ext | undefined): void {
    const usage = usageOf(event, (loss) => this.#out.report(loss))
    if (isUncounted(usage)) {
      this.#call.uncounted = true
      this.#usage.add(undefined)
      return
    }
    this.#usage.add(usage)
    this.#out.emit({ type: 'usage', scope: 'call', usage }, ext)
  }

  /** `turn_end`: the model call is over; `stop` and `error` in the agent's words. */
  turnEnd(said: string, error: string | undefined, ext: Ext | undefined): void {
    this.#out.closeMessage()
    const known = STOPS.get(said)
    const stop = this.cancelAsked && known === 'error' ? 'aborted' : (known ?? 'end')
    const { step, spoke, uncounted } = this.#call
    this.#stopped = { stop, error }
    // A provider's connection that broke looks like a normal end but for its usage.
    if (spoke && uncounted && stop !== 'error' && stop !== 'aborted')
      this.#out.notice('warning', 'partial-answer', DOUBT)
    if (step === undefined) return
    this.#call.step = undefined
    this.#out.emit({ type: 'step-end', step, stop }, known ? ext : add(ext, `{"stop":${JSON.stringify(said)}}`))
  }

  /** `error`: for a prompt, `done` still follows; for a compact it is the end. */
  error(message: string, ext: Ext | undefined): void {
    if (this.#failure) {
      this.#out.notice('error', 'agent-error', message, ext)
      return
    }
    // Between a tool and the next model call only the limit of steps raises an error.
    const atLimit = this.#call.step === undefined && this.#stopped?.stop === 'tool-use'
    this.#failure = { fault: faultOfText(message, ext), stop: atLimit ? 'max-turns' : 'error' }
    if (this.task === 'compact') this.finish(undefined)
  }

  /** `compact_done`: the end of a compact; false when a prompt runs. */
  compactDone(summary: string, ext: Ext | undefined): boolean {
    if (this.task !== 'compact') return false
    if (this.cancelAsked) this.finish(ext)
    else this.#end({ outcome: 'completed', stop: 'end', summary }, ext)
    return true
  }

  /** `done`, or whatever else ends the turn. */
  finish(ext: Ext | undefined): void {
    this.#out.closeMessage()
    const { stop = 'end', error } = this.#stopped ?? {}
    if (this.cancelAsked) this.cancelled(ext)
    else if (this.#failure) this.#fail(this.#failure.fault, this.#failure.stop, ext)
    else if (stop === 'error') this.#fail(faultOfText(error ?? 'The agent ended the turn with an error.'), stop, ext)
    // Nothing here asked for it, yet this is how an abort looks: the agent was stopped from elsewhere.
    else if (stop === 'aborted' || stop === 'tool-use') this.cancelled(ext)
    else if (this.task === 'compact') {
      this.#fail(fault('internal', 'The agent ended the compaction without a summary.'), 'error', ext)
    } else {
      if (!this.#spoke) this.#out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
      this.#end({ outcome: 'completed', stop }, ext)
    }
  }

  /** The turn ended because it was cancelled. */
  cancelled(ext?: Ext): void {
    this.#end(CANCELLED, ext)
  }

  /** The turn never ran, or its process is gone. The agent's own error message is preferred to `reason`. */
  fail(reason: Fault): void {
    if (this.cancelAsked) this.cancelled()
    else this.#fail(this.#failure?.fault ?? reason, 'error')
  }

  #fail(reason: Fault, stop: Stop, ext?: Ext): void {
    this.#end({ ...failedWith(reason), stop }, ext)
  }

  #end(end: Ending, ext: Ext | undefined): void {
    const { total } = this.#usage
    if (total) this.#out.emit({ type: 'usage', scope: 'turn', ...total })
    this.ended = true
    this.#out.emit({ type: 'turn-end', ...end }, ext)
  }

  /** The content of a message; blocks that parts cannot say whole ride along as they came. */
  #content(line: string, ext: Ext | undefined): { parts: readonly Part[]; ext: Ext | undefined } {
    const raw = member(line, 'content')
    const { parts, exact } = readContent(raw, this.#tools.namer())
    return { parts, ext: exact ? ext : add(ext, `{"content":${raw}}`) }
  }
}

function add(ext: Ext | undefined, json: string): Ext {
  return { protocol: PROTOCOL, json: append(ext?.json ?? '{}', json) }
}
