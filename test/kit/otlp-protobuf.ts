/** OTLP's Protocol Buffers as the objects that its JSON would be, as far as the receiver of the tests reads them. */

/** The reader of a field; a message is read by its own fields. */
type Kind = 'string' | 'hex' | 'varint' | 'bool' | 'fixed64' | 'double' | 'fixed64s' | Message
interface Field {
  name: string
  kind: Kind
  many?: true
}
type Message = () => Readonly<Record<number, Field>>

const one = (name: string, kind: Kind): Field => ({ name, kind })
const many = (name: string, kind: Kind): Field => ({ name, kind, many: true })

const anyValue: Message = () => ({
  1: one('stringValue', 'string'),
  2: one('boolValue', 'bool'),
  3: one('intValue', 'varint'),
  4: one('doubleValue', 'double'),
  5: one('arrayValue', () => ({ 1: many('values', anyValue) })),
  6: one('kvlistValue', () => ({ 1: many('values', keyValue) })),
})
const keyValue: Message = () => ({ 1: one('key', 'string'), 2: one('value', anyValue) })
const resource: Message = () => ({ 1: many('attributes', keyValue) })
const span: Message = () => ({
  1: one('traceId', 'hex'),
  2: one('spanId', 'hex'),
  3: one('traceState', 'string'),
  4: one('parentSpanId', 'hex'),
  5: one('name', 'string'),
  6: one('kind', 'varint'),
  7: one('startTimeUnixNano', 'fixed64'),
  8: one('endTimeUnixNano', 'fixed64'),
  9: many('attributes', keyValue),
  11: many('events', () => ({ 2: one('name', 'string'), 3: many('attributes', keyValue) })),
  13: many('links', () => ({ 1: one('traceId', 'hex'), 2: one('spanId', 'hex'), 4: many('attributes', keyValue) })),
  15: one('status', () => ({ 3: one('code', 'varint') })),
})
const numberPoint: Message = () => ({
  4: one('asDouble', 'double'),
  6: one('asInt', 'fixed64'),
  7: many('attributes', keyValue),
})
const histogramPoint: Message = () => ({
  4: one('count', 'fixed64'),
  5: one('sum', 'double'),
  6: one('bucketCounts', 'fixed64s'),
  9: many('attributes', keyValue),
})
const metric: Message = () => ({
  1: one('name', 'string'),
  3: one('unit', 'string'),
  5: one('gauge', () => ({ 1: many('dataPoints', numberPoint) })),
  7: one('sum', () => ({ 1: many('dataPoints', numberPoint), 3: one('isMonotonic', 'bool') })),
  9: one('histogram', () => ({ 1: many('dataPoints', histogramPoint) })),
})
const logRecord: Message = () => ({
  2: one('severityNumber', 'varint'),
  3: one('severityText', 'string'),
  5: one('body', anyValue),
  6: many('attributes', keyValue),
  9: one('traceId', 'hex'),
  10: one('spanId', 'hex'),
})

/** A request: resources, scopes, records. */
const TRACES = request('resourceSpans', 'scopeSpans', 'spans', span)
/** The other requests by the path that they are sent to. */
const REQUESTS: Readonly<Record<string, Message>> = {
  '/v1/metrics': request('resourceMetrics', 'scopeMetrics', 'metrics', metric),
  '/v1/logs': request('resourceLogs', 'scopeLogs', 'logRecords', logRecord),
}

function request(resources: string, scopes: string, records: string, record: Message): Message {
  const scope: Message = () => ({ 2: many(records, record) })
  return () => ({ 1: many(resources, () => ({ 1: one('resource', resource), 2: many(scopes, scope) })) })
}

/** Decodes the body of a request to this path; a path of its own is one for traces. */
export function decodeProtobuf(path: string, bytes: Buffer): unknown {
  return readMessage(bytes, REQUESTS[path] ?? TRACES)
}

function readMessage(bytes: Buffer, message: Message): Record<string, unknown> {
  const fields = message()
  const object: Record<string, unknown> = {}
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : wire === 5 ? 4 : 0
    const number = wire === 0 ? varint() : 0n
    const piece = bytes.subarray(at, at + length)
    at += length
    const field = fields[tag >>> 3]
    if (!field) continue
    const value = readValue(field.kind, number, piece)
    if (field.many) object[field.name] = [...((object[field.name] as unknown[]) ?? []), value]
    else object[field.name] = value
  }
  return object
}

function readValue(kind: Kind, number: bigint, piece: Buffer): unknown {
  if (typeof kind === 'function') return readMessage(piece, kind)
  switch (kind) {
    case 'string':
      return piece.toString()
    case 'hex':
      return piece.toString('hex')
    case 'varint':
      return Number(BigInt.asIntN(64, number))
    case 'bool':
      return number === 1n
    case 'double':
      return piece.readDoubleLE()
    case 'fixed64':
      return String(piece.readBigUInt64LE())
    case 'fixed64s':
      return Array.from({ length: piece.length / 8 }, (_, index) => Number(piece.readBigUInt64LE(index * 8)))
  }
}
