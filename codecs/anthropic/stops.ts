import { wordTable } from '../../src/codec-kit/index.ts'
import type { Stop } from '../../src/model/index.ts'

/**
 * The `stop_reason` of every stop. Stops of failed and cancelled turns are errors instead. `tool_use` is only said of
 * calls that the client is to run.
 */
export const STOP_REASONS: Readonly<Record<Stop, string>> = {
  end: 'end_turn',
  'tool-use': 'end_turn',
  'max-turns': 'end_turn',
  'max-budget': 'end_turn',
  aborted: 'end_turn',
  error: 'end_turn',
  'max-tokens': 'max_tokens',
  'stop-sequence': 'stop_sequence',
  refusal: 'refusal',
  'content-filter': 'refusal',
  'context-window': 'model_context_window_exceeded',
}

/** Stops that share a `stop_reason` with a usual one. */
export const NARROW: ReadonlySet<Stop> = new Set(['tool-use', 'max-turns', 'max-budget', 'content-filter'])

const STOPS = wordTable<Stop | 'pause'>({
  end_turn: 'end',
  tool_use: 'end',
  max_tokens: 'max-tokens',
  stop_sequence: 'stop-sequence',
  refusal: 'refusal',
  model_context_window_exceeded: 'context-window',
  pause_turn: 'pause',
})

/**
 * The stop of a `stop_reason`; `pause` says that another request gets the rest of the answer. Undefined for a word that
 * is not known.
 */
export function stopOf(reason: string): Stop | 'pause' | undefined {
  return STOPS.get(reason)
}
