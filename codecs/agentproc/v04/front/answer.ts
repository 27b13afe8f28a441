import { dropped, weakened } from '../../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../../src/contract/index.ts'
import {
  append,
  type EventOf,
  type Ext,
  type Id,
  type Item,
  type JsonText,
  type MessageView,
  quote,
  type TurnEnd,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { isAnswer, isBytes, reasonOf } from '../../answers.ts'
import { hasForeignMembers, losesCode } from '../../exit-code.ts'
import { EXT_04, ownExt } from '../../ext.ts'
import type { TypedVersion } from '../../versions.ts'
import { wireSession } from '../session.ts'
import { writeUsage } from '../usage.ts'
import type { Asks } from './asks.ts'
import { errorLine, line, partialLine, type Shared } from './lines.ts'

type Delta = Extract<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }>

/**
 * Writes one turn as events. Deltas are partials, and the result (0.3: the text) has the whole reply again, for runners
 * that show no partials. Once partials were shown a runner passes the result's text over: a message that came whole
 * becomes a partial then. The session id is on the first event and on errors (0.3: an event before the first one).
 */
export class AnswerWriter {
  readonly #version: TypedVersion
  readonly #ports: FrontPorts
  readonly #asks: Asks
  #session: string | undefined
  #stamped = false
  /** The message whose text was written last. */
  #last: Id | undefined
  /** Messages whose thoughts came in pieces. */
  readonly #thought = new Set<Id>()
  /** Whole messages that no partial has shown. */
  #whole: Id[] = []
  /** Members of the usage without a place in the model. */
  #usageExt: Ext | undefined

  constructor(version: TypedVersion, ports: FrontPorts, asks: Asks) {
    this.#version = version
    this.#ports = ports
    this.#asks = asks
  }

  /** One event of the turn. */
  write(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (event.ext && event.ext.protocol !== EXT_04) this.#drop('ext', exchange)
    if (event.type === 'message-start') this.#messageStart(event, exchange)
    else if (event.type === 'text-delta' || event.type === 'reasoning-delta') this.#delta(event, exchange, view)
    else if (event.type === 'message-end') this.#messageEnd(event, exchange, view)
    else if (event.type === 'message-retract') this.#retract(event, exchange, view)
    else if (event.type === 'ask') this.#ask(event, exchange)
    else if (event.type === 'ask-settled') this.#asks.settled(event.ask, exchange)
    else if (event.type === 'turn-accepted') this.#session = wireSession(event.session)
    else if (event.type === 'usage') this.#usageExt = event.scope === 'turn' ? event.ext : this.#usageExt
    else if (event.type === 'turn-end') this.#end(event, exchange, view)
  }

  #delta(event: Delta, exchange: Id, view: TurnView): void {
    if (!isAnswer(view.message(event.message))) this.#drop(event.type, exchange)
    else if (event.text === '') return
    else if (event.type === 'text-delta') {
      this.#wholeAsPartials(view)
      this.#partial(event.message, event.text, event.ext)
    } else {
      this.#thought.add(event.message)
      this.#thinking(event.text, event.ext)
    }
  }

  /** Partials are one text, which includes asides. */
  #messageStart({ phase }: EventOf<'message-start'>, exchange: Id): void {
    if (phase === 'commentary') this.#weakened('message.phase', exchange)
  }

  #messageEnd(event: EventOf<'message-end'>, exchange: Id, view: TurnView): void {
    const message = view.message(event.message)
    if (!isAnswer(message)) return
    this.#dropParts(message, exchange)
    for (const part of event.parts ?? []) {
      if (part.type === 'reasoning' && !this.#thought.has(message.id)) this.#thinking(part.text, undefined)
    }
    if (!message.streamed && message.text !== '') this.#whole.push(message.id)
  }

  #retract(event: EventOf<'message-retract'>, exchange: Id, view: TurnView): void {
    if (event.keepText) return
    this.#whole = this.#whole.filter((id) => id !== event.message)
    const message = view.message(event.message)
    if (!isAnswer(message) || !message.streamed) return
    this.#ports.report(weakened('message-retract'), exchange)
  }

  #ask(event: EventOf<'ask'>, exchange: Id): void {
    this.#ports.send(this.#asks.ask(event, exchange, this.#stamp()))
  }

  #end(end: TurnEnd, exchange: Id, view: TurnView): void {
    const completed = end.outcome === 'completed'
    if (this.#last !== undefined || !completed) this.#wholeAsPartials(view)
    const usage = this.#usage(view)
    if (completed) {
      this.#result(view.text, usage, end.ext)
      return
    }
    if (hasForeignMembers(end.fault)) this.#drop('ext', exchange)
    if (end.outcome === 'failed' && losesCode(end.fault)) this.#weakened('fault.code', exchange)
    const session = this.#version === '0.4' ? this.#session : this.#stamp()
    this.#ports.send(errorLine(reasonOf(end), usage, { session, ext: end.ext }))
  }

  /** The whole reply. 0.3 says an empty one with nothing. */
  #result(text: string, usage: JsonText | undefined, ext: Ext | undefined): void {
    const shared = this.#shared(ext)
    if (this.#version === '0.4') this.#ports.send(line('result', [['text', quote(text)]], usage, shared))
    else if (text !== '') this.#ports.send(line('text', [['text', quote(text)]], undefined, shared))
  }

  #usage({ usage, usageEstimated }: TurnView): JsonText | undefined {
    return usage && this.#version === '0.4'
      ? append(writeUsage(usage, usageEstimated), ownExt(this.#usageExt))
      : undefined
  }

  #wholeAsPartials(view: TurnView): void {
    if (this.#whole.length === 0) return
    for (const id of this.#whole.splice(0)) this.#partial(id, view.message(id)!.text, undefined)
  }

  /** Separate messages are an empty line apart. */
  #partial(message: Id, text: string, ext: Ext | undefined): void {
    const gap = this.#last !== undefined && this.#last !== message ? '\n\n' : ''
    this.#last = message
    this.#ports.send(partialLine(gap + text, undefined, this.#shared(ext)))
  }

  #thinking(text: string, ext: Ext | undefined): void {
    this.#ports.send(partialLine(text, 'thinking', this.#shared(ext)))
  }

  #shared(ext: Ext | undefined): Shared {
    return { session: this.#stamp(), ext }
  }

  /** The session id for the first event; undefined for the others. In 0.3 it is an event of its own before it. */
  #stamp(): string | undefined {
    if (this.#stamped) return undefined
    this.#stamped = true
    if (this.#version === '0.4' || this.#session === undefined) return this.#session
    this.#ports.send(line('session', [['id', quote(this.#session)]], undefined, { session: undefined, ext: undefined }))
    return undefined
  }

  #dropParts(message: MessageView, exchange: Id): void {
    for (const part of message.parts ?? []) if (isBytes(part)) this.#drop(`part.${part.type}`, exchange)
  }

  #weakened(item: Item, exchange: Id): void {
    this.#ports.report(weakened(item), exchange)
  }

  #drop(item: Item, exchange: Id): void {
    this.#ports.report(dropped(item), exchange)
  }
}
