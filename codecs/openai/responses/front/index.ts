import { isJsonType, sendRequest, UNRETRIED } from '../../../../src/codec-kit/index.ts'
import {
  type Answer,
  type Frame,
  type FrontContext,
  type FrontHalf,
  type FrontLink,
  type FrontPorts,
  frameText,
  type InputFate,
} from '../../../../src/contract/index.ts'
import {
  type Command,
  type Fault,
  type Id,
  rest,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { responsesFront } from '../../capabilities.ts'
import { DeclaredTools } from '../../declared-tools.ts'
import { errorBody, faultOfTurn, invalidRequest } from '../../errors.ts'
import { DeleteFront } from './delete.ts'
import { type Echo, echoExt, NO_ECHO } from './echo.ts'
import { type Envelope, responseJson } from './envelope.ts'
import { InputFront } from './input-list.ts'
import { reportLosses } from './losses.ts'
import { KEEP_ALIVE } from './output.ts'
import { type ResponsesRequest, readRequest } from './request.ts'
import { StoredFront } from './stored.ts'
import { ResponseWriter } from './writer.ts'

/** A client of `POST /v1/responses`: one request in, one response out; and of the responses that there are. */
export const front: FrontHalf = {
  capabilities: responsesFront,
  env: [],
  namesAgents: true,
  accepts: (_first, { transport }) => transport === 'http',
  open: linkOf,
}

function linkOf(context: FrontContext, ports: FrontPorts): FrontLink {
  if (context.params?.['response'] === undefined) return new ResponsesFront(context, ports)
  if (context.method === 'DELETE') return new DeleteFront(context, ports)
  return context.path.endsWith('/input_items') ? new InputFront(context, ports) : new StoredFront(context, ports)
}

class ResponsesFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** The gateway takes them when the answer begins. */
  readonly #headers: Record<string, string> = {}
  #request: ResponsesRequest | undefined
  #echo: Echo = NO_ECHO
  #answer: Answer | undefined
  /** The park that the turn goes on from. */
  #continuation: string | undefined
  #writer: ResponseWriter | undefined
  #view: TurnView | undefined

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(frame: Frame): void {
    const { headers } = this.#context
    const id = headers['x-request-id']
    if (id) this.#headers['x-request-id'] = id
    if (!isJsonType(headers['content-type'])) {
      const why = invalidRequest('The body must be JSON; send it as application/json.')
      this.#ports.fault(why, 'continues', undefined, 415)
      return
    }
    const request = readRequest(frameText(frame))
    if ('code' in request) {
      this.#ports.fault(request, 'continues')
      return
    }
    this.#request = request
    const exchange = this.#ports.newId()
    sendRequest(request, this.#context, this.#ports, exchange, (command) => {
      if (command.type === 'ask-reply') this.#continuation = (command.target as { continuation: string }).continuation
      this.#echo = echoTo(request, command, this.#ports.now?.())
      this.#answer = this.#answerTo(request)
      return this.#answer
    })
    for (const loss of request.losses) this.#ports.report(loss, exchange)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#view = view
    this.#headers['x-request-id'] ??= view.turn
    const request = this.#request!
    if (request.background && !request.streams) {
      this.#ports.send(responseJson(this.#envelope(request, view.turn), view, { status: 'queued', output: '[]' }))
      return
    }
    if (event.type === 'turn-started' || this.#continuation !== undefined) this.#started()
    this.#writer ??= this.#newWriter(request, this.#envelope(request, view.turn), exchange)
    const writer = this.#writer
    // Nothing is lost of most events.
    if (event.type === 'text-delta' && event.ext === undefined) {
      writer.write(event, view)
      return
    }
    reportLosses(event, view, (loss) => this.#ports.report(loss, exchange))
    const failed = event.type === 'turn-end' && event.outcome !== 'completed'
    if (failed && !(request.streams && writer.begun)) {
      this.#fail(faultOfTurn(event))
      return
    }
    writer.write(event, view)
    if (writer.response !== undefined && !request.streams) this.#ports.send(writer.response)
  }

  encodeTexts(run: TextRun, exchange: Id, view: TurnView): void {
    // The beginning of an answer depends on more than its text.
    if (this.#writer?.begun && this.#continuation === undefined) this.#writer.texts(run, view)
    else for (const event of run.events) this.encode(event, exchange, view)
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    if (this.#request?.streams && this.#writer?.begun) this.#writer.fail(found, this.#view!)
    else this.#fail(found)
  }

  keepAlive(): void {
    if (this.#request?.streams && this.#writer?.begun) this.#ports.send(KEEP_ALIVE)
  }

  #fail(found: Fault): void {
    if (!found.retryable) this.#headers['x-should-retry'] = 'false'
    this.#ports.send(errorBody(found))
  }

  /** A client that sends the request again would have the agent do its work again. */
  #started(): void {
    this.#headers['x-should-retry'] = 'false'
    this.#answer!.failureStatus = UNRETRIED
  }

  /** Questions end the answer, and the turn is parked until the next request brings their answers. */
  #answerTo({ streams, background, stored }: ResponsesRequest): Answer {
    const onDisconnect = background ? 'drain' : 'cancel'
    const echo = stored ? echoExt(this.#echo) : undefined
    const common = { headers: this.#headers, onDisconnect, asks: 'next-request', ...(echo && { echo }) } as const
    if (streams) {
      this.#headers['cache-control'] = 'no-cache'
      return { form: 'stream', framing: 'sse', ...common }
    }
    // A whole response is made of the events, because they say the order of its items.
    return { form: background ? 'accepted' : 'stream', framing: 'body', ...common }
  }

  #envelope({ stored }: ResponsesRequest, turn: Id): Envelope {
    const continuation = this.#continuation
    const ref = { turn, stored, ...(continuation !== undefined && { continuation }) }
    return { ref, echo: this.#echo }
  }

  #newWriter({ streams, tools }: ResponsesRequest, envelope: Envelope, exchange: Id): ResponseWriter {
    return new ResponseWriter(
      envelope,
      new DeclaredTools(tools),
      () => this.#ports.losses(exchange),
      streams ? (_, event, data) => this.#ports.send({ event, data }) : undefined,
      streams ? (run) => this.#ports.sendRun(run) : undefined,
    )
  }
}

const OUTPUT: ReadonlySet<string> = new Set(['output'])

/** The parts of a request that later responses repeat. The results of calls are in the record of its turn. */
function echoTo({ repeated, raw }: ResponsesRequest, { type }: Command, at: number | undefined): Echo {
  const common = { request: repeated, tools: raw.tools }
  if (type !== 'ask-reply') return { ...common, input: raw.system }
  return { ...common, input: raw.latest.map((item) => rest(item, OUTPUT)!), at }
}
