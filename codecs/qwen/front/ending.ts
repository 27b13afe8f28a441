import type { Entry } from '../../../src/codec-kit/index.ts'
import { type EventOf, fault, type JsonText, quote, type Stop, type TurnView } from '../../../src/model/index.ts'
import { writeUsage } from '../usage.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import type { AnswerWriter } from './answer.ts'
import type { CommandWriter } from './command.ts'
import type { Lines } from './lines.ts'

/** A request to cancel that waits for the turn's end. */
export interface CancelRequest {
  request: string
  reason: string
}

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
}: Pick<EventOf<'notice'>, 'severity' | 'code' | 'text' | 'ext'>): Entry[] {
  return [
    ['event', ownMember(ext, 'event') ?? quote(code)],
    ['message', quote(text)],
    ['level', quote(severity)],
  ]
}

/** Answers a request to cancel on both of its channels. */
export function writeCancelled(lines: Lines, { request, reason }: CancelRequest, cancelled: boolean): void {
  const status = cancelled ? '"ok"' : '"noop"'
  const why = cancelled ? reason : 'There is no turn to cancel: it has ended, or never ran.'
  lines.write('result/cancel', [
    ['status', status],
    ['reason', quote(why)],
  ])
  lines.write('control_response', [
    ['request_id', quote(request)],
    ['response', `{"subtype":"success","result":{"status":${status}}}`],
  ])
}

/** The members of the session event that ends a turn; `metrics` is the usage of the turn. */
function endMembers(stop: Stop, metrics: JsonText | undefined): Entry[] {
  const { event, message } = ENDS[stop]
  return [
    ['event', quote(event)],
    ['message', quote(message)],
    ['metrics', metrics],
  ]
}

/** Writes the one end of a turn. */
export class EndWriter {
  readonly #lines: Lines
  readonly #answer: AnswerWriter
  readonly #compaction: CommandWriter | undefined

  /** `compaction` writes the result of a turn that compacts its transcript; other turns have none. */
  constructor(lines: Lines, answer: AnswerWriter, compaction: CommandWriter | undefined) {
    this.#lines = lines
    this.#answer = answer
    this.#compaction = compaction
  }

  /** Ends a request that had no turn. `at` is milliseconds since the epoch. */
  close(stop: 'end' | 'aborted', at: number): void {
    if (stop !== 'end' || !this.#lines.chunked) {
      this.#lines.write('x-qwen-session-event', endMembers(stop, undefined))
    }
    if (this.#lines.chunked) this.#lines.completion('{"index":0,"delta":{},"finish_reason":"stop"}', { at })
  }

  /** Ends a turn. `answered`: its whole answer was the result of a command. */
  write(end: EventOf<'turn-end'>, view: TurnView, answered: boolean): void {
    if (end.outcome === 'failed') {
      const said = end.fault?.ext
      if (said && said.protocol !== PROTOCOL) this.#lines.drop('ext', said.protocol)
      this.#lines.fatal(end.fault ?? fault('internal', 'The turn failed; see the log of the gateway.'))
      return
    }
    if (end.outcome === 'completed') this.#compacted(end, view)
    if (end.summary !== undefined && !this.#compaction) this.#lines.drop('end.summary')
    const stop = end.outcome === 'cancelled' ? 'aborted' : (end.stop ?? 'end')
    if (NARROW.has(stop)) this.#lines.report({ kind: 'weakened', item: 'end.stop', why: 'too-narrow', count: 1 })
    const { reason, event } = ENDS[stop]
    const usage = view.usage && writeUsage(view.usage)
    if (this.#lines.chunked) {
      // The last line of this format is the last piece: an event other than the usual one goes before it.
      this.#answer.before(view)
      if (event !== 'Finished') this.#lines.write('x-qwen-session-event', endMembers(stop, usage))
      this.#answer.finish(reason, { usage, ext: end.ext }, view)
      return
    }
    if (!answered && !this.#compaction) this.#answer.finish(reason, { usage, ext: undefined }, view)
    this.#answer.before(view)
    this.#lines.write('x-qwen-session-event', endMembers(stop, usage), end.ext)
  }

  /** The transcript was compacted: its summary is the result of the command. */
  #compacted({ summary }: EventOf<'turn-end'>, view: TurnView): void {
    if (!this.#compaction) return
    this.#lines.write('x-qwen-session-event', [
      ['event', '"ChatCompressed"'],
      ['message', quote('The conversation was compacted.')],
    ])
    this.#compaction.message('info', summary || view.text || 'The conversation was compacted.')
  }
}
