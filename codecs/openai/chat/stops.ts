import type { Stop } from '../../../src/model/index.ts'

/** The `finish_reason` of every stop. Stops of failed and cancelled turns are errors instead. */
export const FINISH: Readonly<Record<Stop, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-use': 'stop',
  'max-turns': 'stop',
  'max-budget': 'stop',
  'max-tokens': 'length',
  'context-window': 'length',
  refusal: 'content_filter',
  'content-filter': 'content_filter',
  aborted: 'stop',
  error: 'stop',
}

/** Stops that share a `finish_reason` with a usual one. */
export const NARROW: ReadonlySet<Stop> = new Set([
  'stop-sequence',
  'tool-use',
  'max-turns',
  'max-budget',
  'context-window',
  'refusal',
])

/** The stop of a `finish_reason`; servers have more of them than the specification. */
export function stopOf(reason: string): Stop {
  switch (reason) {
    case 'length':
    case 'max_tokens':
      return 'max-tokens'
    case 'content_filter':
      return 'content-filter'
    case 'refusal':
      return 'refusal'
    default:
      return 'end'
  }
}
