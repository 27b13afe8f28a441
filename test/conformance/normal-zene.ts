import { haltReason, isBlank, isPlaceholder } from '../../codecs/zene/text.ts'
import { faultOfEnd } from '../../src/contract/index.ts'
import { each, type Heard, type Line, type Normalisation, omit, record, whole, without } from './normal.ts'

/** What the README of Zene lists as written otherwise between two ends of it. */
export const zene: readonly Normalisation[] = [
  without('`ack` and `event` lines | ours, with our time, count and profile', isOurs),
  each('`ack` and `event` lines | ours, with our time, count and profile', (line) => omit(line, 'ts_ms', 'latency_ms')),
  each('`usage` of zeros or none | an estimate', (line) => (isUnknown(line['usage']) ? omit(line, 'usage') : line)),
  each('`text` of a failure | `""`', (line) => (isFailure(line) && 'text' in line ? { ...line, text: '' } : line)),
  each('`replayed` | only where the gateway replays', (line) => omit(line, 'replayed')),
  whole("a replay's protocol shape in a flat stream | flat", (lines, { read }) =>
    read.some((line) => 'ok' in line) ? lines.map((line) => (line['status'] === 'OK' ? flat(line) : line)) : lines,
  ),
  each('an `error` that ends a run | a `final` with that error', (line) =>
    line['type'] === 'error' || line['status'] === 'ERROR'
      ? omit({ ...line, type: 'error' }, 'status', 'text', 'usage')
      : line,
  ),
  whole('flat `INTERNAL` after a cancel | CANCELED', (lines, { read }) => {
    const cancelled = new Set(read.map(({ target_request_id: id }) => id))
    return lines.map((line) =>
      line['error_code'] === 'INTERNAL' && cancelled.has(line['request_id'])
        ? { ...line, error_code: 'CANCELED', error_message: 'the run was canceled' }
        : line,
    )
  }),
  whole('OK without a result of its own | a failure', (lines, { read }) => {
    const empty = new Set(read.filter(isEmptySuccess).map(({ request_id: id }) => id))
    return lines.map((line) =>
      empty.has(line['request_id']) ? { request_id: line['request_id'], session_id: line['session_id'] } : line,
    )
  }),
  whole('a run without an end | an error that says so', (lines, { read, end }) => {
    const said = faultOfEnd(end).message
    return lines.filter((line) => {
      const added = !read.some(({ type, request_id: id }) => type !== 'ack' && id === line['request_id'])
      return !added || record(line['error'])['message'] !== said
    })
  }),
  whole("the error of a request that cannot be read whole | our text, and the request's ids", (lines, { read }) => {
    const refused = read.some(({ request_id: id }) => id === 'unknown')
    return refused ? lines.map((line) => omit(line, 'request_id', 'session_id', 'error_message', 'error')) : lines
  }),
  each("a self-test's checks | the gateway's", (line) =>
    'missing_required_env' in line ? omit(line, 'checks', 'provider_probe_results') : line,
  ),
]

function isOurs({ type, status }: Line): boolean {
  return type === 'event' || (type === 'ack' && status === 'ACCEPTED')
}

/** Counts that were made up, or that say nothing. */
function isUnknown(usage: unknown): boolean {
  const counts = record(usage)
  return counts['estimated'] === true || Object.values(counts).every((count) => count === 0 || count === null)
}

function isFailure({ ok, status, type }: Line): boolean {
  return ok === false || (type === 'final' && status !== 'OK')
}

function isSuccess({ ok, status }: Line): boolean {
  return ok === true || status === 'OK'
}

function isEmptySuccess(line: Line): boolean {
  const text = line['text']
  return (
    isSuccess(line) &&
    typeof text === 'string' &&
    (isBlank(text) || isPlaceholder(text) || haltReason(text) !== undefined)
  )
}

function flat({ request_id, session_id, text, usage }: Line): Line {
  return {
    ok: true,
    request_id,
    session_id,
    text,
    error_code: null,
    error_message: null,
    ...(usage !== undefined && { usage }),
  }
}

/** A success that counts no token gets an estimate, and says so. */
export function zeneLosses({ read }: Heard): string[] {
  const runs = read.filter((line) => typeof line['text'] === 'string')
  const estimated = runs.filter((line) => isSuccess(line) && !isEmptySuccess(line) && isUnknown(line['usage']))
  const untold = runs.filter((line) => isFailure(line) && line['text'] !== '')
  return [
    ...(estimated.length > 0 ? [`invented usage.total ${estimated.length}`] : []),
    ...(untold.length > 0 ? [`dropped message-end ${untold.length}`] : []),
  ]
}
