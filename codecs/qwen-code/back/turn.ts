import { CANCELLED, type Ending, failedWith, ToolCalls, TurnEmitter } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Ext, type Fault, fault, type Id, type Loss, type Stop, type Usage } from '../../../src/model/index.ts'
import type { Result } from '../schema.ts'
import { type UsageMeter, usageOf } from '../usage.ts'
import { CANCELLED_TEXT } from '../wire.ts'
import { Answer } from './answer.ts'
import { faultOfText, isErrorText, isSameError, saysErrorsAsText } from './errors.ts'

/**
 * One turn of the agent. Lines name no turn, so the link hands them over in their order; `ended` is true once the turn
 * has its end.
 */
export class TurnDecoder {
  readonly turn: Id
  /** The calls of all lanes. They keep the wire's ids, which several of them may share. */
  readonly calls = new ToolCalls((wireId) => wireId)
  /** Calls whose arguments stream, by their block. */
  readonly drafts = new Map<number, Id>()
  /** Calls that the client has refused. */
  readonly denied = new Set<Id>()
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
    this.main = new Answer(new TurnEmitter(ports, turn))
  }

  /** The answer of the lane that a line's `parent_tool_use_id` names: the main one, or a sub-agent's. */
  lane(parent: unknown): Answer {
    if (typeof parent !== 'string' && typeof parent !== 'number') return this.main
    const name = String(parent)
    const lane = this.#lanes.get(name) ?? new Answer(new TurnEmitter(this.#ports, this.turn, name))
    this.#lanes.set(name, lane)
    return lane
  }

  /** The agent took the turn; `ext` is its description of itself. */
  started(ext?: Ext): void {
    if (this.#started) return
    this.#started = true
    this.#meter.begin()
    this.main.out.started(ext)
  }

  /** The tokens of a model call. */
  count(lane: Answer, fields: unknown): void {
    const usage = usageOf(fields, this.#report)
    if (!usage) return
    if (lane === this.main) this.#meter.add(usage)
    lane.out.emit({ type: 'usage', scope: 'call', usage })
  }

  /** `result`. `version` is the CLI's; `ext` has the members of the line that the model has no place for. */
  result(result: Result, version: string | undefined, ext: Ext | undefined): void {
    const end = this.#judge(result, version)
    const failed = end.outcome !== 'completed'
    this.main.end(failed && isSameError(this.main.held, result.error?.message))
    if (!failed && !this.main.spoke) this.#answerOf(result.result ?? '')
    this.#end(end, this.#meter.end(usageOf(result.usage, this.#report)), ext)
  }

  /** The turn ended because it was cancelled. */
  cancelled(): void {
    this.#end(CANCELLED, this.#meter.sum)
  }

  /** The turn never ran, or its process is gone. */
  fail(reason: Fault, stop: Stop = 'error'): void {
    if (this.cancelAsked) this.cancelled()
    else this.#end({ ...failedWith(reason), stop }, this.#started ? this.#meter.sum : undefined)
  }

  #judge(result: Result, version: string | undefined): Ending {
    const said = result.error?.message
    const failed = result.is_error || result.subtype !== 'success'
    if (this.cancelAsked || (failed && said === CANCELLED_TEXT)) return CANCELLED
    if (failed && result.subtype === 'error_max_turns') {
      const reason = fault('internal', said ?? 'The agent stopped at its limit of model calls.')
      return { ...failedWith(reason), stop: 'max-turns' }
    }
    const { held } = this.main
    if (failed) return failedWith(faultOfText(said || held))
    if (isErrorText(held) && saysErrorsAsText(version)) return failedWith(faultOfText(held))
    return { outcome: 'completed', stop: 'end' }
  }

  /** An answer that only the result holds, or none at all. */
  #answerOf(text: string): void {
    if (text === '') this.main.out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
    else {
      this.main.whole(undefined, [{ type: 'text', text }])
      this.main.end(false)
    }
  }

  #end(end: Ending, usage: Usage | undefined, ext?: Ext): void {
    for (const answer of [...this.#lanes.values(), this.main]) answer.end(false)
    if (usage) this.main.out.emit({ type: 'usage', scope: 'turn', usage })
    this.ended = true
    this.main.out.emit({ type: 'turn-end', ...end }, ext)
  }
}
