import { CANCELLED, type Ending, failedWith, wordTable } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  addUsage,
  type Fault,
  fault,
  type Loss,
  type Stop,
  type TurnStart,
  type Usage,
} from '../../../src/model/index.ts'
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
  /** The tokens of the answers so far. */
  #counted: Usage | undefined
  /** The result of an answer after which the agent answers further input. */
  #paused: Result | undefined

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
    this.#count(result)
    if (this.cancelAsked || isAborted(result)) this.#end(CANCELLED)
    else if (!succeeded(result)) this.#end(failureOf(result))
    else {
      this.#lastMessage(result.result)
      this.#end(completionOf(result))
    }
  }

  /** `result` of an answer, after which the agent answers further input. */
  pause(result: Result): void {
    this.#count(result)
    if (!this.main.spoke) this.main.text(result.result ?? '')
    this.main.out.closeMessage()
    this.main.spoke = false
    this.#paused = result
  }

  /** The agent takes further input up. */
  resume(): void {
    this.#paused = undefined
  }

  /** No further input follows: the answer after which the agent was to go on was the last one. */
  noMore(): void {
    if (this.#paused) this.#end(this.cancelAsked ? CANCELLED : completionOf(this.#paused))
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

  #count(result: Result): void {
    const usage = this.#usage.end(result, (loss) => this.report(loss))
    if (usage) this.#counted = this.#counted ? addUsage(this.#counted, usage) : usage
  }

  #end(end: Ending): void {
    for (const lane of [...this.#lanes.values(), this.main]) lane.out.closeMessage()
    const usage = this.#counted
    if (usage) this.main.out.emit({ type: 'usage', scope: 'turn', usage })
    this.ended = true
    this.main.out.emit({ type: 'turn-end', ...end })
  }
}

/** The answer was complete. */
export function succeeded(result: Result): boolean {
  return result.subtype === 'success' && !result.is_error && !isAborted(result)
}

function isAborted({ terminal_reason: reason }: Result): boolean {
  return reason?.startsWith('aborted') === true
}

function completionOf({ stop_reason: stop }: Result): Ending {
  return { outcome: 'completed', stop: STOPS.get(stop) ?? 'end' }
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
