import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Loss,
  type Stop,
  type TurnEnd,
  type Usage,
} from '../../../src/model/index.ts'
import type { Result } from '../schema.ts'
import { CANCELLED_TEXT, toExt } from '../wire.ts'
import { Answer } from './answer.ts'
import { Emitter } from './emit.ts'
import { faultOfText, isErrorText, isSameError, saysErrorsAsText } from './errors.ts'
import { Tools } from './tools.ts'
import { type UsageMeter, usageOf } from './usage.ts'

type End = Pick<TurnEnd, 'outcome' | 'stop' | 'fault'>

/**
 * One turn of the agent. Lines name no turn, so the link hands them over in their order; `ended` is true once the turn
 * has its end.
 */
export class TurnDecoder {
  readonly turn: Id
  readonly tools = new Tools()
  /** The main agent's answer. */
  readonly main: Answer
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  readonly #ports: BackPorts
  readonly #lanes = new Map<string, Answer>()
  readonly #meter: UsageMeter
  #started = false
  readonly #report = (loss: Loss): void => this.#ports.report(loss, this.turn)

  constructor(ports: BackPorts, turn: Id, meter: UsageMeter) {
    this.#ports = ports
    this.#meter = meter
    this.turn = turn
    this.main = new Answer(new Emitter(ports, turn))
  }

  /** The answer of the lane that a line's `parent_tool_use_id` names: the main one, or a sub-agent's. */
  lane(parent: unknown): Answer {
    if (typeof parent !== 'string' && typeof parent !== 'number') return this.main
    const name = String(parent)
    const lane = this.#lanes.get(name) ?? new Answer(new Emitter(this.#ports, this.turn, name))
    this.#lanes.set(name, lane)
    return lane
  }

  /** The agent took the turn; `extra` is its description of itself. */
  started(extra?: JsonText): void {
    if (this.#started) return
    this.#started = true
    this.#meter.begin()
    this.main.out.emit({ type: 'turn-started' }, extra)
  }

  /** The tokens of a model call. */
  count(lane: Answer, fields: unknown): void {
    const usage = usageOf(fields, this.#report)
    if (!usage) return
    if (lane === this.main) this.#meter.add(usage)
    lane.out.emit({ type: 'usage', scope: 'call', usage })
  }

  /** `result`. `version` is the CLI's; `extra` are the members of the line that the model has no place for. */
  result(result: Result, version: string | undefined, extra: JsonText | undefined): void {
    const end = this.#judge(result, version)
    const failed = end.outcome !== 'completed'
    this.main.end(failed && isSameError(this.main.held, result.error?.message))
    if (!failed && !this.main.spoke) this.#answerOf(result.result ?? '')
    this.#end(end, this.#meter.end(usageOf(result.usage, this.#report)), extra)
  }

  /** The turn ended because it was cancelled. */
  cancelled(): void {
    this.#end({ outcome: 'cancelled', stop: 'aborted' }, this.#meter.sum)
  }

  /** The turn never ran, or its process is gone. */
  fail(reason: Fault, stop: Stop = 'error'): void {
    if (this.cancelAsked) this.cancelled()
    else this.#end({ outcome: 'failed', stop, fault: reason }, this.#started ? this.#meter.sum : undefined)
  }

  #judge(result: Result, version: string | undefined): End {
    const said = result.error?.message
    const failed = result.is_error || result.subtype !== 'success'
    if (this.cancelAsked || (failed && said === CANCELLED_TEXT)) return { outcome: 'cancelled', stop: 'aborted' }
    if (failed && result.subtype === 'error_max_turns') {
      const reason = fault('internal', said ?? 'The agent stopped at its limit of model calls.')
      return { outcome: 'failed', stop: 'max-turns', fault: reason }
    }
    const { held } = this.main
    if (failed) return { outcome: 'failed', stop: 'error', fault: faultOfText(said || held) }
    if (isErrorText(held) && saysErrorsAsText(version))
      return { outcome: 'failed', stop: 'error', fault: faultOfText(held) }
    return { outcome: 'completed', stop: 'end' }
  }

  /** An answer that only the result holds, or none at all. */
  #answerOf(text: string): void {
    if (text === '') {
      const empty = 'The agent ended the turn without any text.'
      this.main.out.emit({ type: 'notice', severity: 'info', code: 'empty-answer', text: empty })
    } else {
      this.main.whole(undefined, [{ type: 'text', text }])
      this.main.end(false)
    }
  }

  #end(end: End, usage: Usage | undefined, extra?: JsonText): void {
    for (const answer of [...this.#lanes.values(), this.main]) answer.end(false)
    if (usage) this.#ports.emit({ turn: this.turn, type: 'usage', scope: 'turn', usage })
    this.ended = true
    const ext = toExt(extra)
    this.#ports.emit({ turn: this.turn, type: 'turn-end', ...end, ...(ext && { ext }) })
  }
}
