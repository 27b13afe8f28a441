import * as v from 'valibot'
import { CANCELLED, type Ending, failedWith } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Fault, fault, type Id, type JsonText, type TurnStart } from '../../../src/model/index.ts'
import { failureOf } from '../errors.ts'
import { TurnCompleted } from '../schema.ts'
import { entriesExt } from '../wire.ts'
import { Lane } from './lane.ts'
import type { ThreadUsage } from './usage.ts'

/** One turn of the agent as canonical events; `ended` is true once it has its end. */
export class TurnDecoder {
  readonly turn: Id
  readonly main: Lane
  readonly usage: ThreadUsage
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  readonly #task: TurnStart['task']
  readonly #ports: BackPorts
  readonly #lanes = new Map<string, Lane>()
  /** The newest diff of all that the turn changed. */
  #diff: JsonText | undefined

  constructor(ports: BackPorts, { turn, task }: Pick<TurnStart, 'turn' | 'task'>, usage: ThreadUsage) {
    this.#ports = ports
    this.turn = turn
    this.#task = task
    this.usage = usage
    this.main = new Lane(ports, turn)
  }

  /** The lane of another thread than the main one: a sub-agent's. */
  lane(thread: string): Lane {
    const lane = this.#lanes.get(thread) ?? new Lane(this.#ports, this.turn, thread)
    this.#lanes.set(thread, lane)
    return lane
  }

  /** The agent works on the turn. */
  started(): void {
    this.main.out.started()
  }

  /** `turn/diff/updated`: rides in the end of the turn. */
  diff(json: JsonText): void {
    this.#diff = json
  }

  /** `thread/tokenUsage/updated` of the main thread. */
  count({ total, last }: { total: unknown; last?: unknown }): void {
    const { out } = this.main
    const usage = this.usage.update(total, last, (loss) => out.report(loss))
    if (usage) out.emit({ type: 'usage', scope: 'call', usage })
  }

  /** `turn/completed`. */
  completed(params: unknown): void {
    const { success, output } = v.safeParse(TurnCompleted, params)
    if (!success) this.fail(fault('protocol-violation', 'The agent ended the turn in a way that cannot be read.'))
    else if (this.cancelAsked || output.turn.status === 'interrupted') this.#end(CANCELLED)
    else if (output.turn.status === 'completed') {
      this.#lastMessage(output.turn.items)
      this.#end({ outcome: 'completed', stop: 'end' })
    } else this.#end(failureOf(output.turn.error))
  }

  /** The turn never ran, or its process is gone. */
  fail(reason: Fault): void {
    this.#end(this.cancelAsked ? CANCELLED : failedWith(reason))
  }

  /** The turn ends because it was cancelled. */
  cancelled(): void {
    this.#end(CANCELLED)
  }

  /** An answer that only the end holds, or none at all. */
  #lastMessage(items: readonly { type: string; text?: unknown }[] = []): void {
    if (this.main.spoke || this.#task === 'compact') return
    const text = items.findLast(({ type }) => type === 'agentMessage')?.text
    if (typeof text === 'string' && text !== '') this.main.text('', text)
    else this.main.out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
  }

  #end(end: Ending): void {
    for (const lane of [...this.#lanes.values(), this.main]) lane.end()
    const { out } = this.main
    const usage = this.usage.ofTurn
    if (usage) out.emit({ type: 'usage', scope: 'turn', usage })
    this.ended = true
    out.emit({ type: 'turn-end', ...end }, entriesExt({ diff: this.#diff }))
  }
}
