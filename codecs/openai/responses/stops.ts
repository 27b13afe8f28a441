import type { Stop, TurnView } from '../../../src/model/index.ts'

/**
 * The `incomplete_details.reason` of a stop; undefined for stops of complete answers, and for a refusal whose message
 * says so itself. Stops of failed and cancelled turns are errors instead.
 */
export function incompleteOf(stop: Stop, { messages }: Pick<TurnView, 'messages'>): string | undefined {
  switch (stop) {
    case 'max-tokens':
    case 'max-turns':
    case 'max-budget':
    case 'context-window':
      return 'max_output_tokens'
    case 'content-filter':
      return 'content_filter'
    case 'refusal':
      return messages.some(({ refuses }) => refuses) ? undefined : 'content_filter'
    default:
      return undefined
  }
}

/** The stop of an incomplete answer; servers have more reasons than the specification. */
export function stopOfIncomplete(reason: unknown): Stop {
  switch (reason) {
    case 'content_filter':
      return 'content-filter'
    case 'max_tool_calls':
      return 'max-turns'
    default:
      return 'max-tokens'
  }
}

/** Stops that an answer says in the word of a usual one, or not at all. */
export const NARROW: ReadonlySet<Stop> = new Set([
  'stop-sequence',
  'tool-use',
  'max-turns',
  'max-budget',
  'context-window',
  'refusal',
])
