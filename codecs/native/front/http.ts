import {
  type Answer,
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
  type InputFate,
} from '../../../src/contract/index.ts'
import type { Fault, Id, LinkEvent, TextRun, TurnEvent, TurnView } from '../../../src/model/index.ts'
import { eventLine, faultLine } from '../lines.ts'
import { write } from '../wire.ts'
import { type More, parkedAnswer, wholeAnswer } from './http-answer.ts'
import { answerOf, readRequest } from './http-request.ts'
import { StreamedAnswer } from './streamed.ts'

/** An id that a header can hold as it is. */
const HEADER_SAFE = /^[\x21-\x7e]{1,256}$/

/** A client of `POST /v1/turns`: one turn in; out its whole answer, its events as they come, or only that it was taken. */
export class HttpFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** The headers of the answer; the gateway takes them when the answer begins. */
  readonly #headers: Record<string, string> = {}
  #answer: Answer | undefined
  /** Set once events were written: what the link says is for this client too. */
  #stream: StreamedAnswer | undefined
  /** The answer is that of an earlier request under the same key. */
  #replayed = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.#mirror(context.headers['x-request-id'])
  }

  decode(frame: Frame): void {
    const { headers } = this.#context
    const read = readRequest(frameText(frame), headers)
    if ('fault' in read) {
      this.#ports.fault(read.fault, 'continues', undefined, read.http)
      return
    }
    const exchange = this.#ports.newId()
    const command = read.command(exchange, read.startsTurn ? this.#ports.newId() : '')
    if (command.type === 'turn-start') this.#mirror(command.request)
    this.#answer = { ...answerOf(command, headers), headers: this.#headers }
    this.#ports.command(command, this.#answer)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const form = this.#answer!.form
    if (event.type === 'turn-accepted') this.#replayed = event.how === 'replayed'
    if (form === 'accepted') this.#accept(event, view)
    else if (form === 'stream') this.#opened().event(event, exchange, view)
    else if (event.type === 'turn-end') this.#ports.send(wholeAnswer(event, view, this.#more(exchange)))
    else if (event.type === 'turn-parked') this.#ports.send(parkedAnswer(event, view, this.#more(exchange)))
  }

  encodeTexts(run: TextRun, _exchange: Id, view: TurnView): void {
    this.#opened().texts(run, view)
  }

  encodeLink(event: LinkEvent): void {
    this.#stream?.write(event.type, eventLine(event, {}))
  }

  encodeFault(found: Fault, exchange: Id | undefined, input: InputFate): void {
    const losses = exchange === undefined ? [] : this.#ports.losses(exchange)
    const line = faultLine(found, undefined, input, losses)
    if (this.#stream) this.#stream.write('fault', line)
    else this.#ports.send(line)
  }

  keepAlive(): void {
    this.#stream?.keepAlive()
  }

  /** The turn was taken. The answer says only this, and where to ask for more. */
  #accept({ turn }: TurnEvent, { session }: TurnView): void {
    this.#headers['location'] = `/v1/turns/${turn}`
    this.#headers['preference-applied'] = 'respond-async'
    this.#ports.send(write({ id: turn, status: 'accepted', session, replayed: this.#replayed || undefined }))
  }

  #more(exchange: Id): More {
    return { losses: this.#ports.losses(exchange), replayed: this.#replayed }
  }

  #opened(): StreamedAnswer {
    const framing = this.#answer!.framing === 'ndjson' ? 'ndjson' : 'sse'
    if (!this.#stream && framing === 'sse') this.#headers['cache-control'] = 'no-cache'
    this.#stream ??= new StreamedAnswer(this.#ports, framing)
    return this.#stream
  }

  #mirror(request: string | undefined): void {
    if (request !== undefined && HEADER_SAFE.test(request)) this.#headers['x-request-id'] = request
  }
}
