import { dropped, weakened } from '../../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../../src/contract/index.ts'
import type { EventOf, Id, Item, MessageView, TurnEnd, TurnEvent, TurnView } from '../../../../src/model/index.ts'
import { isAnswer, isBytes, reasonOf } from '../../answers.ts'
import { hasForeignMembers, losesCode } from '../../exit-code.ts'
import { bodyLines, errorLine, hasCarriageReturn, partialLine, sessionLine } from './lines.ts'

type Delta = Extract<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }>

/**
 * Writes one turn as sentinel lines. Form `stream`: deltas are partials; a message that came without deltas is the
 * body, unless more text follows it: runners show partials before the body, so it becomes a partial then. Form `whole`:
 * the answer is the body. The session line waits for the first output, so that a failure still chooses the HTTP status.
 */
export class AnswerWriter {
  readonly #form: 'whole' | 'stream'
  readonly #ports: FrontPorts
  /** The session id while its line is not written. */
  #session: string | undefined
  /** The message whose text was written last. */
  #last: Id | undefined
  /** Messages for the body, in order. */
  #body: Id[] = []

  constructor(form: 'whole' | 'stream', ports: FrontPorts) {
    this.#form = form
    this.#ports = ports
  }

  /** One event of the turn. */
  write(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (event.ext) this.#drop('ext', exchange)
    if (event.type === 'message-start') this.#messageStart(event, exchange)
    else if (event.type === 'text-delta') this.#delta(event, exchange, view)
    else if (event.type === 'message-end') this.#messageEnd(event, exchange, view)
    else if (event.type === 'message-retract') this.#retract(event, exchange, view)
    else if (event.type === 'turn-accepted') this.#session = event.session
    else if (event.type === 'turn-end') this.#end(event, exchange, view)
  }

  #delta(event: Delta, exchange: Id, view: TurnView): void {
    if (!isAnswer(view.message(event.message))) this.#drop('text-delta', exchange)
    else if (event.text !== '') {
      this.#bodyAsPartials(view)
      this.#partial(event.message, event.text)
    }
  }

  #end(end: TurnEnd, exchange: Id, view: TurnView): void {
    if (end.outcome === 'completed') this.#completed(exchange, view)
    else this.#failed(end, exchange, view)
  }

  /** Partials are one text, which includes asides. */
  #messageStart({ phase }: EventOf<'message-start'>, exchange: Id): void {
    if (phase === 'commentary') this.#weakened('message.phase', exchange)
  }

  #messageEnd(event: EventOf<'message-end'>, exchange: Id, view: TurnView): void {
    const message = view.message(event.message)
    if (!isAnswer(message)) return
    this.#dropParts(message, exchange)
    if (event.revised) {
      this.#ports.report(weakened('message-end', 'text', 'policy'), exchange)
    }
    if (!message.streamed && message.text !== '') this.#body.push(message.id)
  }

  #retract(event: EventOf<'message-retract'>, exchange: Id, view: TurnView): void {
    if (event.keepText) return
    this.#body = this.#body.filter((id) => id !== event.message)
    const message = view.message(event.message)
    if (!isAnswer(message) || !message.streamed) return
    this.#ports.report(weakened('message-retract'), exchange)
  }

  #completed(exchange: Id, view: TurnView): void {
    const body = this.#form === 'whole' ? this.#wholeText(exchange, view) : this.#bodyTexts(view).join('\n\n')
    if (hasCarriageReturn(body)) {
      this.#ports.report(weakened('part.text', undefined, 'too-narrow'), exchange)
    }
    this.#sendSession()
    if (body !== '') this.#send(bodyLines(body))
  }

  /** Text before a failure is written as partials: a runner discards a body that comes with an error. */
  #failed(end: TurnEnd, exchange: Id, view: TurnView): void {
    this.#bodyAsPartials(view)
    if (this.#form === 'whole' && view.text !== '') this.#drop('message-end', exchange)
    if (hasForeignMembers(end.fault)) this.#drop('ext', exchange)
    if (end.outcome === 'failed' && losesCode(end.fault)) this.#weakened('fault.code', exchange)
    this.#send(errorLine(reasonOf(end)))
  }

  #wholeText(exchange: Id, view: TurnView): string {
    for (const message of view.messages.filter(isAnswer)) this.#dropParts(message, exchange)
    return view.text
  }

  #bodyTexts(view: TurnView): string[] {
    return this.#body.map((id) => view.message(id)!.text)
  }

  #bodyAsPartials(view: TurnView): void {
    for (const id of this.#body.splice(0)) this.#partial(id, view.message(id)!.text)
  }

  /** Separate messages are an empty line apart. */
  #partial(message: Id, text: string): void {
    const gap = this.#last !== undefined && this.#last !== message ? '\n\n' : ''
    this.#last = message
    this.#send(partialLine(gap + text))
  }

  #send(lines: string): void {
    this.#sendSession()
    this.#ports.send(lines)
  }

  #sendSession(): void {
    if (this.#session !== undefined) this.#ports.send(sessionLine(this.#session))
    this.#session = undefined
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
