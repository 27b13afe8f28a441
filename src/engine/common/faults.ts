import { type Fault, fault } from '../../model/index.ts'

/** The fault of a request that would rest on a record which cannot be written. */
export const UNWRITABLE: Fault = fault(
  'overloaded',
  'The gateway cannot write its record now, so it can keep no promise about this request; send it again later.',
)

/** For a turn whose process is gone, or was stopped for so long that others have given it up. */
export const LOST: Fault = fault(
  'internal',
  'The gateway was stopped before the turn had ended; send the request again.',
  { retryable: true },
)

/** For a turn whose session another replica has taken in the moment in which it began. */
export const MOVED: Fault = fault(
  'session-busy',
  'The session has just gone to another replica; send the request again.',
  { retryAfterMs: 1000 },
)

/** For a turn that a replica which is about to stop does not take. */
export const DRAINING: Fault = fault('agent-unavailable', 'This replica is about to stop; send the request again.', {
  retryAfterMs: 1000,
})
