import { dropped, type EventTable, isAnswer, writeEvent } from '../../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../../src/contract/index.ts'
import {
  append,
  type EventOf,
  type Ext,
  type Id,
  type JsonText,
  quote,
  type TextRun,
  type TurnEnd,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { AnswerWriter, UNSHOWN } from '../../answer-writer.ts'
import { EXT_04, ownExt } from '../../ext.ts'
import { wireSession } from '../../session.ts'
import type { TypedVersion } from '../../versions.ts'
import { writeUsage } from '../usage.ts'
import type { Asks } from './asks.ts'
import { errorLine, line, partialLine, partialLines, type Shared } from './lines.ts'

/**
 * Writes one turn as events. The result (0.3: the text) has the whole reply again, for runners that show no partials. The
 * session id is on the first event and on errors (0.3: an event before the first one).
 */
export class EventWriter extends AnswerWriter {
  readonly #version: TypedVersion
  readonly #asks: Asks
  #session: string | undefined
  #stamped = false
  /** Messages whose thoughts came in pieces. */
  readonly #thought = new Set<Id>()
  /** Members of the usage without a place in the model. */
  #usageExt: Ext | undefined

  static readonly #events: EventTable<EventWriter> = {
    ...UNSHOWN,
    'turn-accepted': (writer, { session }) => {
      writer.#session = wireSession(session)
    },
    'turn-end': (writer, event, view) => writer.#end(event, view),
    'message-start': (writer, event) => writer.startMessage(event),
    'text-delta': (writer, event, view) => writer.delta(event, view),
    'reasoning-delta': (writer, event, view) => writer.#reasoning(event, view),
    'message-end': (writer, event, view) => writer.#endMessage(event, view),
    'message-retract': (writer, event, view) => writer.retract(event, view),
    usage: (writer, { scope, ext }) => {
      if (scope === 'turn') writer.#usageExt = ext
    },
    ask: (writer, event) => writer.ports.send(writer.#asks.ask(event, writer.#stamp())),
    'ask-settled': (writer, { ask }) => writer.#asks.settled(ask),
  }

  constructor(version: TypedVersion, ports: FrontPorts, exchange: Id, asks: Asks) {
    super(ports, exchange)
    this.#version = version
    this.#asks = asks
  }

  /** Writes what an event of the turn is on this wire. */
  write(event: TurnEvent, view: TurnView): void {
    if (event.ext && event.ext.protocol !== EXT_04) this.report(dropped('ext'))
    writeEvent(EventWriter.#events, this, event, view)
  }

  /** Writes pieces of text. */
  texts(run: TextRun, view: TurnView): void {
    const shown = this.shows(run.message)
    if (!shown) this.write(run.first, view)
    if (!this.shows(run.message)) for (const event of run.events.slice(1)) this.write(event, view)
    else if (shown || run.length > 1) this.ports.sendRun(partialLines(run, shown ? 0 : 1))
  }

  #reasoning({ message, text, ext }: EventOf<'reasoning-delta'>, view: TurnView): void {
    if (!isAnswer(view.message(message))) this.report(dropped('reasoning-delta'))
    else if (text !== '') {
      this.#thought.add(message)
      this.#thinking(text, ext)
    }
  }

  #endMessage(event: EventOf<'message-end'>, view: TurnView): void {
    const message = this.endMessage(event, view)
    if (!message || this.#thought.has(message.id)) return
    for (const part of event.parts ?? []) if (part.type === 'reasoning') this.#thinking(part.text, undefined)
  }

  #end(end: TurnEnd, view: TurnView): void {
    const completed = end.outcome === 'completed'
    if (this.began || !completed) this.wholeAsPartials(view)
    const usage = this.#usage(view)
    if (completed) {
      this.#result(view.text, usage, end.ext)
      return
    }
    const why = this.failure(end)
    const session = this.#version === '0.4' ? this.#session : this.#stamp()
    this.ports.send(errorLine(why, usage, { session, ext: end.ext }))
  }

  /** The whole reply. In 0.3 an empty one has no line. */
  #result(text: string, usage: JsonText | undefined, ext: Ext | undefined): void {
    const shared = this.#shared(ext)
    if (this.#version === '0.4') this.ports.send(line('result', { text: quote(text) }, usage, shared))
    else if (text !== '') this.ports.send(line('text', { text: quote(text) }, undefined, shared))
  }

  #usage({ usage, usageEstimated }: TurnView): JsonText | undefined {
    if (!usage || this.#version !== '0.4') return undefined
    return append(writeUsage(usage, usageEstimated), ownExt(this.#usageExt))
  }

  protected partial(text: string, ext: Ext | undefined): void {
    this.ports.send(partialLine(text, undefined, this.#shared(ext)))
  }

  #thinking(text: string, ext: Ext | undefined): void {
    this.ports.send(partialLine(text, 'thinking', this.#shared(ext)))
  }

  #shared(ext: Ext | undefined): Shared {
    return { session: this.#stamp(), ext }
  }

  /** The session id for the first event; undefined for the others. In 0.3 it is an event of its own before it. */
  #stamp(): string | undefined {
    if (this.#stamped) return undefined
    this.#stamped = true
    if (this.#version === '0.4' || this.#session === undefined) return this.#session
    this.ports.send(line('session', { id: quote(this.#session) }, undefined, { session: undefined, ext: undefined }))
    return undefined
  }
}
