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
import {
  append,
  type Ext,
  type Fault,
  fault,
  type Id,
  member,
  type Part,
  type Stop,
  type TextRun,
} from '../../../src/model/index.ts'
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
export class TurnDecoder extends TurnEmitter {
  readonly task: 'prompt' | 'compact'
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  /** The calls that have no result yet. */
  readonly tools = new ToolCalls(numberedIds())
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
    super(ports, turn)
    this.task = task
  }

  /** `text_delta`: the hot path. */
  override text(text: string, ext: Ext | undefined): void {
    if (text === '') return
    super.text(text, ext)
    this.#spoke = true
    this.#call.spoke = true
  }

  /** Several pieces of text, none of which is empty: they are not emitted. Undefined when there are none. */
  texts(texts: string[]): TextRun | undefined {
    if (texts.length === 0) return undefined
    this.#spoke = true
    this.#call.spoke = true
    return this.run(texts)
  }

  /** `turn_start`: a model call begins and ends what the last one left open. */
  turnStart(step: number, ext: Ext | undefined): void {
    this.closeMessage()
    const { step: open } = this.#call
    if (open !== undefined) this.emit({ type: 'step-end', step: open, stop: 'end' })
    this.#call = { step, spoke: false, uncounted: false }
    this.#stopped = undefined
    this.emit({ type: 'step-start', step }, ext)
  }

  /** `assistant_message`: all that the model said in this call; `line` is its raw text. */
  assistantMessage(line: string, ext: Ext | undefined): void {
    if (this.message === undefined) this.openMessage()
    const { parts, ext: all } = this.content(line, ext)
    this.closeMessage(parts, all)
    const spoke = parts.some((part) => part.type === 'text' && part.text !== '')
    this.#spoke ||= spoke
    this.#call.spoke ||= spoke
  }

  /** `usage` of one model call. Zeros are what the agent says when it does not know. */
  usage(event: unknown, ext: Ext | undefined): void {
    const usage = usageOf(event, (loss) => this.report(loss))
    if (isUncounted(usage)) {
      this.#call.uncounted = true
      this.#usage.add(undefined)
      return
    }
    this.#usage.add(usage)
    this.emit({ type: 'usage', scope: 'call', usage }, ext)
  }

  /** `turn_end`: the model call is over; `stop` and `error` in the agent's words. */
  turnEnd(said: string, error: string | undefined, ext: Ext | undefined): void {
    this.closeMessage()
    const known = STOPS.get(said)
    const stop = this.cancelAsked && known === 'error' ? 'aborted' : (known ?? 'end')
    const { step, spoke, uncounted } = this.#call
    this.#stopped = { stop, error }
    // A provider's connection that broke looks like a normal end but for its usage.
    if (spoke && uncounted && stop !== 'error' && stop !== 'aborted') this.notice('warning', 'partial-answer', DOUBT)
    if (step === undefined) return
    this.#call.step = undefined
    this.emit({ type: 'step-end', step, stop }, known ? ext : add(ext, `{"stop":${JSON.stringify(said)}}`))
  }

  /** `error`: for a prompt, `done` still follows; for a compact it is the end. */
  error(message: string, ext: Ext | undefined): void {
    if (this.#failure) {
      this.notice('error', 'agent-error', message, ext)
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
    this.closeMessage()
    const { stop = 'end', error } = this.#stopped ?? {}
    if (this.cancelAsked) this.cancelled(ext)
    else if (this.#failure) this.#fail(this.#failure.fault, this.#failure.stop, ext)
    else if (stop === 'error') this.#fail(faultOfText(error ?? 'The agent ended the turn with an error.'), stop, ext)
    // Nothing here asked for it, yet this is how an abort looks: the agent was stopped from elsewhere.
    else if (stop === 'aborted' || stop === 'tool-use') this.cancelled(ext)
    else if (this.task === 'compact') {
      this.#fail(fault('internal', 'The agent ended the compaction without a summary.'), 'error', ext)
    } else {
      if (!this.#spoke) this.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
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

  /** The content of a message; blocks that parts cannot say whole ride along as they came. */
  content(line: string, ext: Ext | undefined): { parts: readonly Part[]; ext: Ext | undefined } {
    const raw = member(line, 'content')
    const { parts, exact } = readContent(raw, this.tools.namer())
    return { parts, ext: exact ? ext : add(ext, `{"content":${raw}}`) }
  }

  #fail(reason: Fault, stop: Stop, ext?: Ext): void {
    this.#end({ ...failedWith(reason), stop }, ext)
  }

  #end(end: Ending, ext: Ext | undefined): void {
    const { total } = this.#usage
    if (total) this.emit({ type: 'usage', scope: 'turn', ...total })
    this.ended = true
    this.emit({ type: 'turn-end', ...end }, ext)
  }
}

function add(ext: Ext | undefined, json: string): Ext {
  return { protocol: PROTOCOL, json: append(ext?.json ?? '{}', json) }
}
