import type { Answer, FrontContext, FrontLink, FrontPorts, InputFate } from '../../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  type JsonText,
  type LinkEvent,
  type Loss,
  parse,
  quote,
  type TurnEvent,
  type TurnReply,
  type TurnView,
} from '../../../../src/model/index.ts'
import { errorBody } from '../../errors.ts'
import { type ResponseRef, responseOf } from '../ids.ts'
import { DeclaredTools } from '../tools.ts'
import { type Envelope, responseJson } from './envelope.ts'
import { reportLosses } from './losses.ts'
import { KEEP_ALIVE, type SendEvent } from './output.ts'
import { ResponseWriter } from './writer.ts'

const NO_TOOLS = new DeclaredTools()
const WHOLE: Answer = { form: 'whole', framing: 'body', onDisconnect: 'drain', asks: 'never' }
const FOLLOWED: Answer = { form: 'stream', framing: 'body', onDisconnect: 'drain', asks: 'never' }
const STREAMED: Answer = { ...FOLLOWED, framing: 'sse', headers: { 'cache-control': 'no-cache' } }

/**
 * A client of `GET /v1/responses/:response` and of its `/cancel`: the response is told again from the record of its
 * turn, with the ids and numbers that it had.
 */
export class StoredFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  #ref: ResponseRef = { turn: '', stored: false }
  #streams = false
  #writer: ResponseWriter | undefined
  #view: TurnView | undefined
  /** The number of the turn's event that a response is told up to, while its turn runs. */
  #until = Number.POSITIVE_INFINITY
  /** The response, once it is known. */
  #response: JsonText | undefined

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(): void {
    const { method, params, query } = this.#context
    const ref = responseOf(params!['response']!)
    if (!ref?.stored) {
      this.#ports.fault(this.#unknown(), 'continues')
      return
    }
    this.#ref = ref
    this.#streams = /(?:^|&)stream=true(?:&|$)/.test(query)
    if (method === 'POST') {
      this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-cancel', target: { turn: ref.turn } })
    }
    if (method === 'POST' || this.#streams) this.#follow()
    else this.#query()
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (this.#response !== undefined) return
    this.#view = view
    const writer = this.#writer
    if (writer) {
      reportLosses(event, view, (loss) => this.#ports.report(loss, exchange))
      writer.write(event, view)
    } else if (event.type === 'turn-parked' && event.continuation === this.#ref.continuation) {
      this.#writer = this.#newWriter(exchange)
    } else if (event.type === 'turn-accepted' && this.#ref.continuation === undefined) {
      this.#writer = this.#newWriter(exchange)
    }
    this.#told(event, view)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    if (event.fault) this.#refuse(event.fault)
    else if (this.#response !== undefined) this.#ports.send(this.#response)
    else this.#begin(parse(event.data!) as TurnReply)
  }

  /** The turn is known. One that nothing has been said in waits in line. */
  #begin({ state, seq, ...of }: TurnReply): void {
    if (!(seq > 0)) {
      this.#ports.send(responseJson(this.#envelope, of, { status: 'queued', output: '[]' }))
      return
    }
    if (state === 'running') this.#until = seq
    this.#follow()
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    if (this.#streams && this.#writer?.begun) this.#writer.fail(found, this.#view!)
    else this.#refuse(found)
  }

  keepAlive(): void {
    if (this.#streams && this.#writer?.begun) this.#ports.send(KEEP_ALIVE)
  }

  get #envelope(): Envelope {
    return { ref: this.#ref, background: false, metadata: undefined }
  }

  /** What is no turn to the gateway is no response to its client. */
  #refuse(found: Fault): void {
    this.#ports.send(errorBody(found.code === 'session-not-found' ? this.#unknown() : found))
  }

  #newWriter(exchange: Id): ResponseWriter {
    const after = Number(/(?:^|&)starting_after=(\d+)/.exec(this.#context.query)?.[1] ?? -1)
    const send: SendEvent = (sequence, event, data) => sequence > after && this.#ports.send({ event, data })
    const losses = (): readonly Loss[] => this.#ports.losses(exchange)
    return new ResponseWriter(this.#envelope, NO_TOOLS, losses, this.#streams ? send : undefined)
  }

  #follow(): void {
    const answer = this.#streams ? STREAMED : FOLLOWED
    this.#ports.command(
      { exchange: this.#ports.newId(), type: 'turn-follow', target: { turn: this.#ref.turn } },
      answer,
    )
  }

  #query(): void {
    const args = `{"turn":${quote(this.#ref.turn)}}`
    this.#ports.command({ exchange: this.#ports.newId(), type: 'query', what: 'turn', args }, WHOLE)
  }

  /** Sends the whole response when all of it is told, and leaves a turn that goes on. */
  #told(event: TurnEvent, view: TurnView): void {
    const response = this.#writer?.response
    if (response === undefined) {
      if (event.type === 'turn-end') this.#ports.send(errorBody(this.#unknown()))
      else if (this.#writer && view.seq >= this.#until) this.#give(this.#writer.snapshot('in_progress', view))
      return
    }
    // A response that tells of a failure is no failure of this request: what is sent for the end of a failed turn is.
    const failed = event.type === 'turn-end' && event.outcome !== 'completed'
    this.#response = response
    if (failed && !this.#streams) this.#query()
    else if (event.type !== 'turn-end') this.#give(response)
    else if (!this.#streams) this.#ports.send(response)
  }

  #give(response: JsonText): void {
    this.#response = response
    if (!this.#streams) this.#ports.send(response)
    this.#ports.close(0)
  }

  #unknown(): Fault {
    return fault('session-not-found', `There is no response "${this.#context.params!['response']}" here.`)
  }
}
