/**
 * A turn whose trace is not recorded. Its context is passed on to the agent, and it has no spans: they would be made
 * only to be thrown away.
 */

import type { Context, Tracer } from '@opentelemetry/api'
import { type CallInfo, type Carrier, silentTurn, type TurnScope } from '../src/contract/index.ts'
import { ProcessSpans } from './processes.ts'

/** Observes nothing. `carrier` is passed on, with the same ids for every call: no span would have others. */
export function unrecordedTurn(tracer: Tracer, parent: Context, carrier: Carrier): TurnScope {
  const silent = silentTurn(carrier)
  const place = { parent, baggage: carrier.baggage, turnEnded: () => true } as const
  return {
    ...silent,
    // A later turn of the process may be recorded.
    call: (info: CallInfo) =>
      info.kind === 'http' ? silent.call(info) : new ProcessSpans(tracer, info.command, place),
  }
}
