/**
 * A request whose trace is not recorded. Its context is passed on to the agent, and it has no spans: they would be made
 * only to be thrown away.
 */

import type { Context, Tracer } from '@opentelemetry/api'
import type { CallInfo, CallScope, Carrier, RequestScope, TurnScope } from '../src/contract/index.ts'
import { ProcessSpans } from './processes.ts'

/** Observes nothing. `carrier` is passed on, with the request's ids for every call: no span would have others. */
export function unrecordedRequest(tracer: Tracer, context: Context, carrier: Carrier): RequestScope {
  const turn = unrecordedTurn(tracer, context, carrier)
  return { carrier, turn: () => turn, fault() {}, end() {} }
}

function unrecordedTurn(tracer: Tracer, parent: Context, carrier: Carrier): TurnScope {
  const http: CallScope = { carrier, started() {}, head() {}, ready() {}, end() {} }
  const place = { parent, baggage: carrier.baggage, turnEnded: () => true } as const
  return {
    carrier,
    // A later turn of the process may be recorded.
    call: (info: CallInfo) => (info.kind === 'http' ? http : new ProcessSpans(tracer, info.command, place)),
    linked() {},
    queued() {},
    firstEvent() {},
    loss() {},
    note() {},
    moved() {},
    end() {},
  }
}
