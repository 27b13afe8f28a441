import {
  type EventOf,
  fault,
  type JsonText,
  type Members,
  quote,
  type Stop,
  type TurnView,
} from '../../../src/model/index.ts'
import { writeUsage } from '../usage.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import { writeMessageResult } from './before.ts'
import type { Lines } from './lines.ts'
import type { CancelRequest, Turn } from './state.ts'

/** The end of a turn on this wire: the reason of the last completion, and an event. */
interface Ended {
  reason: string | undefined
  event: string
  message: string
}

/** Refusals and limits of model calls have no finish reason of their own. */
const ENDS: Readonly<Record<Stop, Ended>> = {
  end: { reason: 'stop', event: 'Finished', message: 'The turn is finished.' },
  'stop-sequence': { reason: 'stop', event: 'Finished', message: 'The turn is finished.' },
  error: { reason: 'stop', event: 'Finished', message: 'The turn is finished.' },
  'tool-use': { reason: 'tool_calls', event: 'Finished', message: 'The turn waits for the result of a tool.' },
  refusal: { reason: 'content_filter', event: 'Finished', message: 'The model refused to answer.' },
  'content-filter': { reason: 'content_filter', event: 'Finished', message: 'The answer was withheld by a filter.' },
  'max-tokens': { reason: 'length', event: 'MAX_TOKENS', message: 'The answer was cut off at the limit of tokens.' },
  'context-window': { reason: 'length', event: 'MAX_TOKENS', message: 'The answer was cut off: the context is full.' },
  'max-turns': { reason: 'stop', event: 'MaxSessionTurns', message: 'The turn was ended at the limit of model calls.' },
  'max-budget': { reason: 'stop', event: 'MaxSessionTurns', message: 'The turn was ended at the limit of its cost.' },
  aborted: { reason: undefined, event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
}

/** Stops that have the name of another one. */
const NARROW: ReadonlySet<Stop> = new Set(['stop-sequence', 'refusal', 'error', 'context-window', 'max-budget'])

/** The members of a session event that says a notice. */
export function noticeMembers({
  severity,
  code,
  text,
  ext,
}: Pick<EventOf<'notice'>, 'severity' | 'code' | 'text' | 'ext'>): Members {
  return { event: ownMember(ext, 'event') ?? quote(code), message: quote(text), level: quote(severity) }
}

/** Answers a request to cancel on both of its channels. */
export function writeCancelled(lines: Lines, { request, reason }: CancelRequest, cancelled: boolean): void {
  const status = cancelled ? '"ok"' : '"noop"'
  const why = cancelled ? reason : 'There is no turn to cancel: it has ended, or never ran.'
  lines.write('result/cancel', { status, reason: quote(why) })
  lines.write('control_response', {
    request_id: quote(request),
    response: `{"subtype":"success","result":{"status":${status}}}`,
  })
}

/** The members of the session event that ends a turn; `metrics` is the usage of the turn. */
function endMembers(stop: Stop, metrics: JsonText | undefined): Members {
  const { event, message } = ENDS[stop]
  return { event: quote(event), message: quote(message), metrics }
}

/** Ends a request that had no turn. `at` is milliseconds since the epoch. */
export function closeRequest(lines: Lines, stop: 'end' | 'aborted', at: number): void {
  if (stop !== 'end' || !lines.chunked) lines.write('x-qwen-session-event', endMembers(stop, undefined))
  if (lines.chunked) lines.completion('{"index":0,"delta":{},"finish_reason":"stop"}', { at })
}

/** Writes the one end of a turn. */
export function writeEnd(turn: Turn, end: EventOf<'turn-end'>, view: TurnView): void {
  const { lines, answer } = turn
  if (end.outcome === 'failed') {
    const said = end.fault?.ext
    if (said && said.protocol !== PROTOCOL) lines.drop('ext', said.protocol)
    lines.fatal(end.fault ?? fault('internal', 'The turn failed; see the log of the gateway.'))
    return
  }
  const compacts = turn.task === 'compact'
  if (compacts && end.outcome === 'completed') writeCompacted(turn, end, view)
  if (end.summary !== undefined && !compacts) lines.drop('end.summary')
  const stop = end.outcome === 'cancelled' ? 'aborted' : (end.stop ?? 'end')
  if (NARROW.has(stop)) lines.narrow('end.stop')
  const { reason, event } = ENDS[stop]
  const usage = view.usage && writeUsage(view.usage)
  if (lines.chunked) {
    // The last line of this format is the last piece: an event other than the usual one goes before it.
    answer.before(view)
    if (event !== 'Finished') lines.write('x-qwen-session-event', endMembers(stop, usage))
    answer.finish(reason, { usage, ext: end.ext }, view)
    return
  }
  if (!turn.answered && !compacts) answer.finish(reason, { usage, ext: undefined }, view)
  answer.before(view)
  lines.write('x-qwen-session-event', endMembers(stop, usage), end.ext)
}

/** The transcript was compacted: its summary is the result of the command. */
function writeCompacted(turn: Turn, { summary }: EventOf<'turn-end'>, view: TurnView): void {
  const text = 'The conversation was compacted.'
  turn.lines.write('x-qwen-session-event', { event: '"ChatCompressed"', message: quote(text) })
  writeMessageResult(turn, 'info', summary || view.text || text)
}
