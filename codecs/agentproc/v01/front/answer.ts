import {
  dropped,
  type EventTable,
  isAnswer,
  unwritten,
  weakened,
  wellFormed,
  writeEvent,
} from '../../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../../src/contract/index.ts'
import { type Id, quote, type TurnEnd, type TurnEvent, type TurnView } from '../../../../src/model/index.ts'
import { AnswerWriter, UNSHOWN } from '../../answer-writer.ts'
import { toWireSession } from '../../session.ts'
import { ERROR, PARTIAL, SESSION } from '../schema.ts'

/**
 * Writes one turn as sentinel lines. Form `stream`: messages that were held back are the body. Form `whole`: the answer
 * is the body. The session line waits for the first output, so that a failure still chooses the HTTP status.
 */
export class SentinelWriter extends AnswerWriter {
  readonly #form: 'whole' | 'stream'
  /** The session id while its line is not written. */
  #session: string | undefined

  static readonly #events: EventTable<SentinelWriter> = {
    ...UNSHOWN,
    ...unwritten('reasoning-delta', 'usage', 'ask', 'ask-settled'),
    'turn-accepted': (writer, { session }) => {
      writer.#session = session
    },
    'turn-end': (writer, event, view) => {
      if (event.outcome === 'completed') writer.#completed(view)
      else writer.#failed(event, view)
    },
    'message-start': (writer, event) => writer.startMessage(event),
    'text-delta': (writer, event, view) => writer.delta(event, view),
    'message-end': (writer, event, view) => {
      if (writer.endMessage(event, view) && event.revised) writer.report(weakened('message-end', 'text', 'policy'))
    },
    'message-retract': (writer, event, view) => writer.retract(event, view),
  }

  constructor(form: 'whole' | 'stream', ports: FrontPorts, exchange: Id) {
    super(ports, exchange)
    this.#form = form
  }

  /** Writes what an event of the turn is on this wire. */
  write(event: TurnEvent, view: TurnView): void {
    if (event.ext) this.report(dropped('ext'))
    writeEvent(SentinelWriter.#events, this, event, view)
  }

  #completed(view: TurnView): void {
    const text = this.#form === 'whole' ? this.#wholeText(view) : this.#bodyText(view)
    const body = wellFormed(text, (loss) => this.report(loss))
    if (body.includes('\r')) this.report(weakened('part.text', undefined, 'too-narrow'))
    this.#sendSession()
    if (body !== '') this.#send(bodyLines(body))
  }

  /** Text before a failure is written as partials: a runner discards a body that comes with an error. */
  #failed(end: TurnEnd, view: TurnView): void {
    this.wholeAsPartials(view)
    if (this.#form === 'whole' && view.text !== '') this.report(dropped('message-end'))
    this.#send(ERROR + quote(this.failure(end)))
  }

  #wholeText(view: TurnView): string {
    for (const message of view.messages.filter(isAnswer)) this.dropFiles(message)
    return view.text
  }

  #bodyText(view: TurnView): string {
    return this.whole.map((id) => view.message(id)!.text).join('\n\n')
  }

  protected partial(text: string): void {
    this.#send(PARTIAL + quote(text))
  }

  #send(lines: string): void {
    this.#sendSession()
    this.ports.send(lines)
  }

  #sendSession(): void {
    if (this.#session !== undefined) this.ports.send(SESSION + toWireSession(this.#session))
    this.#session = undefined
  }
}

/**
 * Text as body lines, which hold no carriage returns: line ends are LF. Lines that would be read as protocol begin with
 * a space.
 */
function bodyLines(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/^(?=AGENT_(?:SESSION|PARTIAL|ERROR):)/gm, ' ')
}
