import type { Stop } from '../../src/model/index.ts'

/** The end of a turn on this wire: the reason of the last completion, and an event. */
export interface Ended {
  reason: string | undefined
  event: string
  message: string
}

/** The end of a turn by its stop. Refusals and limits of model calls have no finish reason of their own. */
export const ENDS: Readonly<Record<Stop, Ended>> = {
  end: { reason: 'stop', event: 'Finished', message: 'The turn is finished.' },
  'stop-sequence': { reason: 'stop', event: 'Finished', message: 'The turn is finished.' },
  error: { reason: 'stop', event: 'Finished', message: 'The turn is finished.' },
  'tool-use': { reason: 'tool_calls', event: 'Finished', message: 'The turn waits for the result of a tool.' },
  refusal: { reason: 'content_filter', event: 'Finished', message: 'The model refused to answer.' },
  'content-filter': { reason: 'content_filter', event: 'Finished', message: 'The answer was withheld by a filter.' },
  'max-tokens': { reason: 'length', event: 'MAX_TOKENS', message: 'The answer was cut off at the limit of tokens.' },
  'context-window': { reason: 'length', event: 'MAX_TOKENS', message: 'The answer was cut off: the context is full.' },
  'max-turns': { reason: 'stop', event: 'MaxSessionTurns', message: 'The turn was ended at the limit of model calls.' },
  'max-budget': { reason: 'stop', event: 'MaxSessionTurns', message: 'The turn was ended at the limit of its cost.' },
  aborted: { reason: undefined, event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
}

/** Stops that have the name of another one. */
export const NARROW: ReadonlySet<Stop> = new Set(['stop-sequence', 'refusal', 'error', 'context-window', 'max-budget'])

/** The messages that say no more than the names of their events. */
export const OWN_MESSAGES: ReadonlySet<string> = new Set(
  Object.entries(ENDS).flatMap(([stop, { message }]) => (NARROW.has(stop as Stop) ? [] : [message])),
)
