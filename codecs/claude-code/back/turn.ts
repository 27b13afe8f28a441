import { CANCELLED, type Ending, failedWith, wordTable } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Fault, fault, type Loss, type Stop, type TurnStart } from '../../../src/model/index.ts'
import { codeOfResult } from '../errors.ts'
import type { Result } from '../schema.ts'
import { Lane } from './lane.ts'
import type { ProcessUsage } from './usage.ts'

const STOPS = wordTable<Stop>({
  max_tokens: 'max-tokens',
  refusal: 'refusal',
  stop_sequence: 'stop-sequence',
  model_context_window_exceeded: 'context-window',
})
const LIMITS = wordTable<Stop>({ error_max_turns: 'max-turns', error_max_budget_usd: 'max-budget' })

/** One turn of the agent as canonical events; `ended` is true once it has its end. */
export class TurnDecoder {
  readonly main: Lane
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  /** The wire's ids of calls that the client has refused. */
  readonly denied = new Set<string>()
  readonly #start: Pick<TurnStart, 'turn' | 'task'>
  readonly #ports: BackPorts
  readonly #usage: ProcessUsage
  readonly #lanes = new Map<string, Lane>()

  constructor(ports: BackPorts, start: Pick<TurnStart, 'turn' | 'task'>, usage: ProcessUsage) {
    this.#ports = ports
    this.#start = start
    this.#usage = usage
    this.main = new Lane(ports, start.turn)
  }

  get turn(): string {
    return this.#start.turn
  }

  /** The lane of a line: the main agent's, or that of the sub-agent whose call `parent_tool_use_id` names. */
  lane(parent: unknown): Lane {
    if (typeof parent !== 'string') return this.main
    const lane = this.#lanes.get(parent) ?? new Lane(this.#ports, this.turn, parent)
    this.#lanes.set(parent, lane)
    return lane
  }

  /** The agent took the turn. */
  started(): void {
    this.main.out.started()
  }

  report(loss: Loss): void {
    this.#ports.report(loss, this.turn)
  }

  /** `result`. A failed model call gives the subtype `success` with `is_error`. */
  result(result: Result): void {
    const { subtype, is_error: failed = false, terminal_reason: reason, stop_reason: stop } = result
    if (this.cancelAsked || reason?.startsWith('aborted')) this.#end(CANCELLED, result)
    else if (failed || subtype !== 'success') this.#end(failureOf(result), result)
    else {
      this.#lastMessage(result.result)
      this.#end({ outcome: 'completed', stop: STOPS.get(stop) ?? 'end' }, result)
    }
  }

  /** The turn never ran, or its process is gone. */
  fail(reason: Fault): void {
    this.#end(this.cancelAsked ? CANCELLED : failedWith(reason))
  }

  /** The turn ends because it was cancelled. */
  cancelled(): void {
    this.#end(CANCELLED)
  }

  /** An answer that only the result holds, or none at all. */
  #lastMessage(text = ''): void {
    if (this.main.spoke || this.#start.task === 'compact') return
    if (text !== '') this.main.text(text)
    else this.main.out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
  }

  #end(end: Ending, result?: Result): void {
    for (const lane of [...this.#lanes.values(), this.main]) lane.out.closeMessage()
    const usage = result && this.#usage.end(result, (loss) => this.report(loss))
    if (usage) this.main.out.emit({ type: 'usage', scope: 'turn', usage })
    this.ended = true
    this.main.out.emit({ type: 'turn-end', ...end })
  }
}

function failureOf({
  subtype,
  result,
  errors = [],
  api_error_status: status,
  terminal_reason: reason,
}: Result): Ending {
  const text = result || errors.join('; ') || 'The agent gave no reason.'
  const stop = LIMITS.get(subtype)
  const code = stop === undefined ? codeOfResult(status, reason, text) : 'internal'
  return { outcome: 'failed', stop: stop ?? 'error', fault: fault(code, text) }
}
