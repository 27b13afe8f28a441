import type { Item, Stop, TurnEvent } from '../../../src/model/index.ts'
import type { Lines } from './lines.ts'

type Event<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

/** Stops of a model call that neither its content nor the `result` shows. */
const UNREPORTED: ReadonlySet<Stop> = new Set([
  'max-tokens',
  'context-window',
  'max-turns',
  'max-budget',
  'refusal',
  'content-filter',
  'stop-sequence',
])

/** Reports what this wire has no line for: of a model call it shows the content, of a tool call its name and input. */
export class FrontLosses {
  readonly #lines: Lines
  /** The number of answers when the open model call began. */
  #before: number | undefined

  constructor(lines: Lines) {
    this.#lines = lines
  }

  /** A model call begins after this number of answers. */
  stepStart(answers: number): void {
    this.#before = answers
  }

  /** It ends. One that said nothing is not to be seen at all. */
  stepEnd({ stop, lane }: Event<'step-end'>, answers: number): void {
    if (lane === undefined && this.#before === answers) this.#weakened('step-start')
    if (lane === undefined) this.#before = undefined
    if (lane !== undefined) this.#weakened('step-end', 'lane')
    if (UNREPORTED.has(stop)) this.#weakened('step-end', 'stop')
  }

  /** A `result` shows only the limit of model calls, and only for a turn that failed. */
  turnEnd({ stop, outcome }: Event<'turn-end'>): void {
    const told = outcome === 'failed' && stop === 'max-turns'
    if (stop !== undefined && UNREPORTED.has(stop) && !told) this.#weakened('end.stop')
  }

  /** Reports an item of a sub-agent that is shown as the main agent's. */
  lane(item: Item): void {
    this.#weakened(item, 'lane')
  }

  /** A client that wants no pieces is shown none of what a tool says while it runs. */
  toolProgress(): void {
    this.#lines.report({ kind: 'weakened', item: 'tool-progress', why: 'policy', count: 1 })
  }

  #weakened(item: Item, field?: string): void {
    this.#lines.report({ kind: 'weakened', item, ...(field !== undefined && { field }), why: 'no-place', count: 1 })
  }
}
