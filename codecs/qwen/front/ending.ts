import {
  type EventOf,
  type Ext,
  fault,
  type JsonText,
  type Members,
  quote,
  type Stop,
  type TurnView,
} from '../../../src/model/index.ts'
import { ENDS, NARROW } from '../ends.ts'
import { writeUsage } from '../usage.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import { writeMessageResult } from './before.ts'
import type { Lines } from './lines.ts'
import type { CancelRequest, Turn } from './state.ts'

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

/** The message of an agent of this dialect with the end. */
function messageOf(ext: Ext | undefined): JsonText | undefined {
  const message = ownMember(ext, 'message')
  return message?.startsWith('"') ? message : undefined
}

/** The members of the session event that ends a turn; `metrics` is the usage of the turn. */
function endMembers(stop: Stop, metrics: JsonText | undefined, ext?: Ext): Members {
  const { event, message } = ENDS[stop]
  return { event: quote(event), message: messageOf(ext) ?? quote(message), metrics }
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
    // The last line of this format is the last piece: an event other than the usual one goes before it. A piece that
    // says that calls follow is no end by itself.
    answer.before(view)
    if (event !== 'Finished' || reason === 'tool_calls')
      lines.write('x-qwen-session-event', endMembers(stop, usage, end.ext))
    else if (messageOf(end.ext) !== undefined) lines.drop('ext', 'message')
    answer.finish(reason, { usage, ext: end.ext }, view)
    return
  }
  // The event that ends the turn has no choice.
  if (ownMember(end.ext, 'delta') ?? ownMember(end.ext, 'choice')) lines.drop('ext', PROTOCOL)
  if (!turn.answered && !compacts) answer.finish(reason, { usage, ext: undefined }, view)
  answer.before(view)
  lines.write('x-qwen-session-event', endMembers(stop, usage, end.ext), end.ext)
}

/** The transcript was compacted: its summary is the result of the command. */
function writeCompacted(turn: Turn, { summary }: EventOf<'turn-end'>, view: TurnView): void {
  const text = 'The conversation was compacted.'
  turn.lines.write('x-qwen-session-event', { event: '"ChatCompressed"', message: quote(text) })
  writeMessageResult(turn, 'info', summary || view.text || text)
}
