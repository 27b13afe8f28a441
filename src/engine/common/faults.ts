import { StoreError } from '../../contract/index.ts'
import { type Fault, fault } from '../../model/index.ts'
import type { EngineLog } from './parts.ts'

/** The fault of a request that would rest on a record which cannot be written. */
export const UNWRITABLE: Fault = fault(
  'agent-unavailable',
  'The gateway cannot write its record now, so it can keep no promise about this request; send it again later.',
  { retryAfterMs: 1000 },
)

/** The fault of a turn whose process has ended, or was stopped for so long that others have taken over. */
export const LOST: Fault = fault(
  'internal',
  'The gateway was stopped before the turn had ended; send the request again.',
  { retryable: true },
)

/** The fault of a request that another replica took, or its session, while its turn began. */
export const MOVED: Fault = fault(
  'session-busy',
  'Another replica has just taken this request or its session; send it again.',
  { retryAfterMs: 1000 },
)

/** The fault of a turn at a gateway that is about to stop. */
export const DRAINING: Fault = fault('agent-unavailable', 'This gateway is about to stop; send the request again.', {
  retryAfterMs: 1000,
})

/** The fault of a request for a session whose replica cannot be reached. It has not begun. */
export const AWAY: Fault = fault(
  'agent-unavailable',
  'The replica that has this session cannot be reached; send the request again.',
  { retryAfterMs: 2000 },
)

/**
 * Logs an error of work that is soon tried again, unless it is one of the store: those who need the store report that.
 */
export function logMistake(log: EngineLog, error: unknown): void {
  if (!(error instanceof StoreError)) log.error('something went wrong in the gateway', { error: String(error) })
}
