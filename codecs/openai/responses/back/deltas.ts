import { type DeltaWire, type PlainDelta, valuesOf } from '../../../../src/codec-kit/index.ts'
import { readEvent, type ServerEvent } from './events.ts'

/** The events that an answer has many of. */
const DELTAS = /^response\.(?:output_text|refusal|reasoning(?:_summary)?_text|function_call_arguments)\.delta$/

/** An event that is one of them. */
export type EventDelta = PlainDelta & { event: ServerEvent }

/** The events of one answer. Their numbers mean nothing for a delta, nor does padding that hides how long it is. */
export const EVENTS: DeltaWire<ServerEvent | 'repeated', EventDelta> = {
  changing: valuesOf('sequence_number', 'obfuscation'),
  read: readEvent,
  deltaOf(event) {
    if (event === 'repeated' || !DELTAS.test(event.type) || event.item || event.body) return undefined
    return { kind: event.type, text: event.delta, event }
  },
  another: ({ event: { type, at, summary, part } }, delta, json) => ({
    type,
    at,
    delta,
    summary,
    part,
    item: undefined,
    body: undefined,
    json,
  }),
}
