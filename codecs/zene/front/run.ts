import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { ackLine, eventHead, eventLine, relayedEvent, statusOf } from './lines.ts'
import type { Ids } from './request.ts'

/** What the front writes itself, and what its capabilities withhold. */
type Elsewhere =
  | 'turn-accepted'
  | 'turn-parked'
  | 'turn-end'
  | 'step-start'
  | 'step-end'
  | 'reasoning-delta'
  | 'tool-start'
  | 'tool-args-delta'
  | 'tool-call'
  | 'tool-progress'
  | 'tool-end'
  | 'terminal-output'
  | 'directive'
  | 'plan'
  | 'usage'
  | 'notice'
  | 'ask'
  | 'ask-settled'

type Shown = 'turn-started' | 'message-start' | 'text-delta' | 'message-end' | 'message-retract' | 'foreign'

/** A new type of event fails to compile here until it is shown or withheld. */
const complete: Exclude<TurnEvent['type'], Elsewhere | Shown> extends never ? true : never = true
void complete

/** A run as its stream tells it: `ack`, then numbered `event` lines between REQUEST_ACCEPTED and RUN_FINISHED. */
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
    this.#ports.send(ackLine(this.#ids, at, 'ACCEPTED', [['request_ts_ms', String(this.#sentAt ?? at)]]))
    this.#event(at, 'REQUEST_ACCEPTED', '{}')
  }

  /** The run ends; its `final` line follows. */
  finished(at: number, failed: Fault | undefined): void {
    this.#event(at, 'RUN_FINISHED', `{"status":"${statusOf(failed)}"}`)
  }

  /** Any other event of the run. */
  show(event: TurnEvent, view: TurnView): void {
    if (event.ext) this.#lost('dropped', 'ext', 'no-place')
    switch (event.type) {
      case 'turn-started':
        this.#event(view.at, 'RUN_STARTED', '{}')
        break
      case 'message-start':
        if (event.role === 'assistant' && event.lane === undefined && event.phase !== 'commentary') {
          this.#answers.add(event.message)
        }
        break
      case 'text-delta':
        this.#text(event.message, event.text, view)
        break
      case 'message-end':
        this.#wholeMessage(event, view)
        break
      case 'message-retract':
        if (this.#shown === event.message && !event.keepText) this.#lost('weakened', 'message-retract', 'too-narrow')
        break
      case 'foreign':
        this.#foreign(event, view.at)
    }
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
