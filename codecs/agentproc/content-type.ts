import type { FrontContext } from '../../src/contract/index.ts'
import { type Fault, fault } from '../../src/model/index.ts'

/** A body that cannot be served. `http` overrides the status of its code. */
export interface Refusal {
  fault: Fault
  http?: number
}

/** The reason why a body of this type is refused; a request without a type is JSON. */
export function wrongType({ headers }: FrontContext): Refusal | undefined {
  const type = headers['content-type']
  if (type === undefined || /^application\/(json|x-ndjson)\s*(;|$)/i.test(type)) return undefined
  return { fault: fault('invalid-request', 'The body must be JSON; send `Content-Type: application/json`.'), http: 415 }
}
