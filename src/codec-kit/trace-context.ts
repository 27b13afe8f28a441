import type { Carrier } from '../contract/index.ts'
import { type Ext, isRecord, type JsonText, member, members, object, quote, rest } from '../model/index.ts'

/** The members of a message's `_meta` that hold the W3C trace context (Trace Context, Baggage). */
const TRACE: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/** Version, trace, parent, flags; later versions may have more fields (Trace Context 3.2). */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?$/
/** Text that may become a header line or a variable, up to the longest that either may be. */
const LIST = /^[ -~]{1,8192}$/
const META: ReadonlySet<string> = new Set(['_meta'])

/** Reads the trace context in the `_meta` of a message; undefined without a `traceparent`. */
export function readTrace(meta: unknown): Carrier | undefined {
  if (!isRecord(meta)) return undefined
  const { traceparent, tracestate, baggage } = meta
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined
  return { traceparent, ...(isList(tracestate) && { tracestate }), ...(isList(baggage) && { baggage }) }
}

/** The `ext` of a message without its trace context, which becomes that of its turn. */
export function untraced(ext: Ext | undefined): Ext | undefined {
  const meta = ext && member(ext.json, '_meta')
  if (meta === undefined) return ext
  const kept = rest(meta, TRACE)
  const json = object(members(rest(ext!.json, META) ?? ''), { _meta: kept })
  return json === '{}' ? undefined : { ...ext!, json }
}

/** The `_meta` of a message: its other members, and the trace context; undefined when there are none. */
export function metaWith(
  { traceparent, tracestate, baggage }: Carrier,
  other: JsonText | undefined,
): JsonText | undefined {
  if (traceparent === undefined) return other
  const trace = { traceparent: quote(traceparent), tracestate: quote(tracestate), baggage: quote(baggage) }
  return object(members(rest(other ?? '', TRACE) ?? ''), trace)
}

function isList(value: unknown): value is string {
  return typeof value === 'string' && LIST.test(value)
}
