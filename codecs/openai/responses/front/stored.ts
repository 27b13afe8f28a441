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
import { DeclaredTools } from '../../declared-tools.ts'
import { errorBody, invalidRequest } from '../../errors.ts'
import { type ResponseRef, responseOf } from '../ids.ts'
import { declaredIn, NO_ECHO, readEcho } from './echo.ts'
import { responseJson } from './envelope.ts'
import { reportLosses } from './losses.ts'
import { KEEP_ALIVE, type SendEvent } from './output.ts'
import { ResponseWriter } from './writer.ts'

/** An answer in one piece, about what there is. */
export const WHOLE: Answer = { form: 'whole', framing: 'body', onDisconnect: 'drain', asks: 'never' }

/**
 * A client of `GET /v1/responses/:response` and of its `/cancel`: the response is written again from the record of its
 * turn, with the same ids and numbers.
 */
export class StoredFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  #ref: ResponseRef = { turn: '', stored: false }
  #streams = false
  /** The number of the last event that the client of a stream knows. */
  #after = -1
  #answer: Answer | undefined
  #writer: ResponseWriter | undefined
  #view: TurnView | undefined
  /** The number of the turn's last event that was written, while its turn runs. */
  #until = Number.POSITIVE_INFINITY
  /** The turn was parked where the response goes on from. */
  #parked = false
  /** The response is complete. */
  #over = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(): void {
    const { method, params, query } = this.#context
    const ref = responseOf(params!['response']!)
    if (!ref?.stored) {
      this.#ports.fault(unknownResponse(this.#context), 'continues')
      return
    }
    const after = startingAfter(query)
    if (after === undefined) {
      this.#ports.fault(invalidRequest('starting_after must be a whole number.', 'starting_after'), 'continues')
      return
    }
    this.#ref = ref
    this.#after = after
    this.#streams = /(?:^|&)stream=true(?:&|$)/.test(query)
    const target = { turn: ref.turn }
    if (method === 'POST') this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-cancel', target })
    if (method === 'POST' || this.#streams) this.#follow()
    else {
      const args = `{"turn":${quote(ref.turn)}}`
      this.#ports.command({ exchange: this.#ports.newId(), type: 'query', what: 'turn', args }, WHOLE)
    }
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (this.#over) return
    this.#view = view
    if (!this.#writer && this.#isFirst(event)) this.#begin(event, exchange)
    if (this.#writer) {
      reportLosses(event, view, (loss) => this.#ports.report(loss, exchange))
      this.#writer.write(event, view)
    }
    this.#told(event, view)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    if (event.fault) {
      this.#refuse(event.fault)
      return
    }
    const { state, seq, ...of } = parse(event.data!) as TurnReply
    const envelope = { ref: this.#ref, echo: NO_ECHO }
    // A turn without output waits in line.
    if (!(seq > 0)) this.#ports.send(responseJson(envelope, of, { status: 'queued', output: '[]' }))
    else {
      if (state === 'running') this.#until = seq
      this.#follow()
    }
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    if (this.#streams && this.#writer?.begun) this.#writer.fail(found, this.#view!)
    else this.#refuse(found)
  }

  keepAlive(): void {
    if (this.#streams && this.#writer?.begun) this.#ports.send(KEEP_ALIVE)
  }

  /** A turn that the gateway does not know is an unknown response to the client. */
  #refuse(found: Fault): void {
    this.#ports.send(errorBody(found.code === 'session-not-found' ? unknownResponse(this.#context) : found))
  }

  #follow(): void {
    const common = { form: 'stream', onDisconnect: 'drain', asks: 'never' } as const
    this.#answer = this.#streams
      ? { ...common, framing: 'sse', headers: { 'cache-control': 'no-cache' } }
      : { ...common, framing: 'body' }
    const target = { turn: this.#ref.turn }
    this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-follow', target }, this.#answer)
  }

  /** True for the event that says that the request of the response is taken. */
  #isFirst(event: TurnEvent): boolean {
    const { continuation } = this.#ref
    if (continuation === undefined) return event.type === 'turn-accepted'
    this.#parked ||= event.type === 'turn-parked' && event.continuation === continuation
    return this.#parked && event.type === 'ask-settled'
  }

  #begin({ ext }: TurnEvent, exchange: Id): void {
    // A response that reports a failure is no failure of this request.
    this.#answer!.failureStatus = 200
    const send: SendEvent = (sequence, event, data) => sequence > this.#after && this.#ports.send({ event, data })
    const losses = (): readonly Loss[] => this.#ports.losses(exchange)
    const echo = readEcho(ext)
    const tools = new DeclaredTools(declaredIn(echo))
    this.#writer = new ResponseWriter({ ref: this.#ref, echo }, tools, losses, this.#streams ? send : undefined)
  }

  /** Sends the whole response once it is complete, and leaves a turn that goes on. */
  #told(event: TurnEvent, view: TurnView): void {
    const response = this.#writer?.response
    if (response !== undefined) this.#give(response, event.type !== 'turn-end')
    else if (this.#writer && view.seq >= this.#until) this.#give(this.#writer.snapshot('in_progress', view), true)
    else if (event.type === 'turn-end' || view.seq >= this.#until) {
      this.#over = true
      this.#ports.fault(unknownResponse(this.#context), 'continues')
    }
  }

  #give(response: JsonText, leaves: boolean): void {
    this.#over = true
    if (!this.#streams) this.#ports.send(response)
    if (leaves) this.#ports.close(0)
  }
}

/** The `starting_after` of a query; -1 when there is none, undefined when it is no number. */
function startingAfter(query: string): number | undefined {
  const given = new URLSearchParams(query).get('starting_after')
  if (given === null) return -1
  return /^\d+$/.test(given) ? Number(given) : undefined
}

/** The fault of a request about a response that there is not. */
export function unknownResponse({ params }: FrontContext): Fault {
  return fault('session-not-found', `There is no response "${params!['response']}" here.`)
}
