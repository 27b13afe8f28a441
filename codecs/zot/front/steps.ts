import { weakened } from '../../../src/codec-kit/index.ts'
import { type Ext, quote, type Stop } from '../../../src/model/index.ts'
import type { Lines } from './lines.ts'
import type { ToolWriter } from './tools.ts'

const STOPS: Readonly<Record<Stop, string>> = {
  end: 'end_turn',
  'stop-sequence': 'end_turn',
  refusal: 'end_turn',
  'content-filter': 'end_turn',
  'tool-use': 'tool_use',
  'max-tokens': 'length',
  'context-window': 'length',
  'max-turns': 'error',
  'max-budget': 'error',
  error: 'error',
  aborted: 'aborted',
}
/** Stops that the wire has a word of their own for. */
const OWN: ReadonlySet<Stop> = new Set(['end', 'tool-use', 'max-tokens', 'error', 'aborted'])

const STOPPED = new Set(['stop'])

/** Writes the model calls of one prompt: `turn_start` and `turn_end`. */
export class StepWriter {
  readonly #lines: Lines
  readonly #tools: ToolWriter
  #step: number | undefined
  #last = 0
  /** The stop of the newest call that ended. */
  stop: Stop | undefined

  constructor(lines: Lines, tools: ToolWriter) {
    this.#lines = lines
    this.#tools = tools
  }

  /** True while a call runs. */
  get running(): boolean {
    return this.#step !== undefined
  }

  /** Starts a call; one that still runs ends before. */
  start(step: number, ext?: Ext): void {
    if (this.running) this.end('end')
    this.#step = step
    this.#last = step
    this.#lines.write('turn_start', { step: String(step) }, ext)
  }

  /** Starts a call if none runs: backs without steps get one around what the agent says. */
  open(): void {
    if (!this.running) this.start(this.#last + 1)
  }

  end(stop: Stop, error?: string, ext?: Ext): void {
    this.#tools.closeDrafts()
    this.#step = undefined
    this.stop = stop
    if (!OWN.has(stop)) this.#lines.report(weakened('step-end', 'stop', 'too-narrow'))
    this.#lines.write('turn_end', { stop: quote(STOPS[stop]), error: quote(error) }, ext, STOPPED)
  }
}
