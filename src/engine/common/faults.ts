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
