import { type EventTable, TOOL_CALLS, unwritten, writeEvent } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  quote,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import type { Shape } from './args.ts'
import { ackLine, deltaLines, eventHead, eventLine, relayedEvent, statusOf } from './lines.ts'
import type { Ids } from './request.ts'

/** A run in flight. */
export interface Run {
  ids: Ids
  exchange: Id
  turn: Id
  shape: Shape
  promptLength: number
  replayed: boolean
  /** Session and key, which make two requests one; undefined without a key. */
  unit: string | undefined
  /** It does not count against the cap: a duplicate or a replay, as far as can be known beforehand. */
  free: boolean
  /** Writes its lines; undefined when only its answer is written. */
  stream: RunStream | undefined
}

/** A run as its stream shows it: `ack`, then numbered `event` lines between REQUEST_ACCEPTED and RUN_FINISHED. */
export class RunStream {
  readonly #ports: FrontPorts
  readonly #exchange: Id
  readonly #ids: Ids
  readonly #head: string
  readonly #deltas: boolean
  readonly #sentAt: number | undefined
  #seq = 0
  /** Messages whose text is the answer: not a sub-agent's, not commentary. */
  readonly #answers = new Set<Id>()
  #shown: Id | undefined

  /** The host writes turns' ends; what is null besides is withheld by the front's capabilities. */
  static readonly #events: EventTable<RunStream> = {
    ...unwritten('turn-accepted', 'turn-parked', 'turn-end', 'step-start', 'step-end', 'usage', 'notice'),
    ...unwritten('reasoning-delta', 'reasoning-end', 'citation', 'directive', 'plan', 'terminal-output'),
    ...unwritten(...TOOL_CALLS, 'ask', 'ask-settled'),
    'turn-started': (run, _, view) => run.#event(view.at, 'RUN_STARTED', '{}'),
    'message-start': (run, event) => {
      const { role, lane, phase } = event
      if (role === 'assistant' && lane === undefined && phase !== 'commentary') run.#answers.add(event.message)
    },
    'text-delta': (run, { message, text }, view) => run.#text(message, text, view),
    'message-end': (run, event, view) => run.#wholeMessage(event, view),
    'message-retract': (run, { message, keepText }) => {
      if (run.#shown === message && !keepText) run.#lost('weakened', 'message-retract', 'too-narrow')
    },
    foreign: (run, event, view) => run.#foreign(event, view.at),
  }

  /** `deltas`: whether the client wants text as it comes. `sentAt`: its own time stamp of the request. */
  constructor(ports: FrontPorts, exchange: Id, ids: Ids, deltas: boolean, sentAt: number | undefined) {
    this.#ports = ports
    this.#exchange = exchange
    this.#ids = ids
    this.#head = eventHead(ids)
    this.#deltas = deltas
    this.#sentAt = sentAt
  }

  /** The gateway took the run. */
  accepted(at: number): void {
    this.#ports.send(ackLine(this.#ids, at, 'ACCEPTED', { request_ts_ms: String(this.#sentAt ?? at) }))
    this.#event(at, 'REQUEST_ACCEPTED', '{}')
  }

  /** The run ends; its `final` line follows. One that ends before it was taken has no events. */
  finished(at: number, failed: Fault | undefined): void {
    if (this.#seq > 0) this.#event(at, 'RUN_FINISHED', `{"status":"${statusOf(failed)}"}`)
  }

  /** Any other event of the run. */
  show(event: TurnEvent, view: TurnView): void {
    if (event.ext) this.#lost('dropped', 'ext', 'no-place')
    writeEvent(RunStream.#events, this, event, view)
  }

  /** Pieces of text of the run. */
  texts(run: TextRun, view: TurnView): void {
    const shown = this.#shown === run.message
    if (!shown) this.show(run.first, view)
    if (this.#shown !== run.message) for (const event of run.events.slice(1)) this.show(event, view)
    else this.#pieces(shown ? run.inner : run.inner.slice(1), view.at)
  }

  /** Writes further pieces of the message that is shown. */
  #pieces(pieces: readonly JsonText[], at: number): void {
    if (pieces.length === 0) return
    this.#ports.sendRun(deltaLines(this.#head, at, this.#seq + 1, pieces))
    this.#seq += pieces.length
  }

  #wholeMessage(event: EventOf<'message-end'>, view: TurnView): void {
    const message = view.message(event.message)
    if (message && !message.streamed && message.text !== '') this.#text(message.id, message.text, view)
  }

  #text(message: Id, text: string, view: TurnView): void {
    if (!this.#answers.has(message)) {
      // The client's own words are not repeated to it.
      if (view.message(message)?.role !== 'user') this.#lost('dropped', 'text-delta', 'no-place')
    } else if (this.#deltas) {
      const gap = this.#shown !== undefined && this.#shown !== message ? '\n\n' : ''
      this.#shown = message
      this.#event(view.at, 'TEXT_DELTA', `{"delta":${quote(gap + text)}}`)
    }
  }

  #foreign({ protocol, frame }: EventOf<'foreign'>, at: number): void {
    const line = protocol === 'zene' ? relayedEvent(frame, this.#head, at, this.#seq + 1) : undefined
    if (line === undefined) this.#lost('dropped', 'foreign', 'no-place')
    else {
      this.#seq += 1
      this.#ports.send(line)
    }
  }

  #event(at: number, type: string, payload: JsonText): void {
    this.#seq += 1
    this.#ports.send(eventLine(this.#head, at, this.#seq, type, payload))
  }

  #lost(kind: Loss['kind'], item: Loss['item'], why: Loss['why']): void {
    this.#ports.report({ kind, item, why, count: 1 }, this.#exchange)
  }
}
