import { isJsonType, sendRequest, toolAnswer, UNRETRIED } from '../../../src/codec-kit/index.ts'
import {
  type Answer,
  type Frame,
  type FrontContext,
  type FrontHalf,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  type Loss,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { frontCapabilities } from '../capabilities.ts'
import { errorJson, faultOfTurn, invalidRequest } from '../errors.ts'
import { VERSIONS } from '../wire.ts'
import { type Asked, wholeAnswer } from './answer.ts'
import { reportLosses, reportUsage, reportView } from './losses.ts'
import { modelList } from './models.ts'
import { type MessagesRequest, readCounted, readRequest } from './request.ts'
import { EventWriter } from './stream.ts'

/** A client of the Messages API: one request in, one message out, whole or streamed. */
export const front: FrontHalf = {
  capabilities: frontCapabilities,
  env: [],
  namesAgents: true,
  demands: ['option.maxTokens'],
  accepts: (_first, { transport }) => transport === 'http',
  open: (context, ports) => (context.method === 'GET' ? modelList(context, ports) : new MessagesFront(context, ports)),
}

const COUNT = '/count_tokens'

class MessagesFront implements FrontLink {
  /** The gateway takes them when the answer begins. */
  readonly headers: Record<string, string>
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  readonly #id: Id
  #request: MessagesRequest | undefined
  #answer: Answer | undefined
  /** The request goes on with a turn whose agent has started. */
  #continued = false
  /** Writes the events of a stream; absent for a whole answer. */
  #events: EventWriter | undefined

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.#id = ports.newId()
    const own = context.headers['x-request-id']
    this.headers = { 'request-id': this.#requestId, ...(own && { 'x-request-id': own }) }
  }

  decode(frame: Frame): void {
    const { headers, path } = this.#context
    const version = headers['anthropic-version']
    if (!isJsonType(headers['content-type'])) {
      this.#refuse(invalidRequest('The body must be JSON; send it as application/json.'), 415)
    } else if (version !== undefined && !VERSIONS.includes(version)) {
      const known = VERSIONS.join(' or ')
      this.#refuse(fault('unsupported-version', `anthropic-version ${version} is unknown; send ${known}.`))
    } else if (path.endsWith(COUNT)) this.#count(frameText(frame))
    else this.#begin(frameText(frame))
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (event.type === 'turn-started' || this.#continued) this.#started()
    // Nothing is lost of most events.
    if (this.#events && event.type === 'text-delta' && event.ext === undefined) {
      this.#events.write(event, view)
      return
    }
    const report = (loss: Loss): void => this.#ports.report(loss, exchange)
    reportLosses(event, view, report)
    const failed = event.type === 'turn-end' && event.outcome !== 'completed' ? faultOfTurn(event) : undefined
    if (failed) this.#mayRetry(failed)
    const ends = event.type === 'turn-parked' || event.type === 'turn-end'
    if (ends && !failed) reportUsage(view, report)
    if (failed && !this.#events?.begun) this.#fail(failed)
    else if (this.#events) this.#events.write(event, view)
    else if (ends) {
      reportView(view, report)
      this.#ports.send(wholeAnswer(event, view, this.#asked(this.#request!)))
    }
  }

  encodeTexts(run: TextRun, exchange: Id, view: TurnView): void {
    if (this.#events && !this.#continued) this.#events.texts(run, view)
    else for (const event of run.events) this.encode(event, exchange, view)
  }

  encodeFault(found: Fault): void {
    this.#mayRetry(found)
    if (this.#events?.begun) this.#events.fail(found)
    else this.#fail(found)
  }

  keepAlive(): void {
    this.#events?.keepAlive()
  }

  /** A client that sends the request again would have the agent do its work again. */
  #started(): void {
    this.headers['x-should-retry'] = 'false'
    this.#answer!.failureStatus = UNRETRIED
  }

  get #requestId(): Id {
    return `req_${this.#id}`
  }

  #refuse(found: Fault, http?: number): void {
    this.#ports.fault(found, 'continues', undefined, http)
  }

  /** Tells the client that its request would fail again, where it would. */
  #mayRetry({ retryable }: Fault): void {
    if (!retryable) this.headers['x-should-retry'] = 'false'
  }

  #fail(found: Fault): void {
    this.#ports.send(errorJson(found, this.#requestId))
  }

  /** Answers with an estimate: no agent counts the tokens of a request that it does not run. */
  #count(body: string): void {
    const tokens = readCounted(body)
    if (typeof tokens === 'number') this.#ports.send(`{"input_tokens":${tokens}}`)
    else this.#refuse(tokens)
  }

  #begin(body: string): void {
    const request = readRequest(body, this.#context.headers)
    if ('code' in request) {
      this.#refuse(request)
      return
    }
    const exchange = this.#ports.newId()
    this.#request = request
    if (request.streams) this.#stream(request, exchange)
    sendRequest(request, this.#context, this.#ports, exchange, (command) => {
      this.#continued = command.type === 'ask-reply'
      this.#answer = toolAnswer(request.streams, command)
      return this.#answer
    })
  }

  #stream(request: MessagesRequest, exchange: Id): void {
    this.headers['cache-control'] = 'no-cache'
    this.#events = new EventWriter(this.#asked(request), {
      event: (event, data) => this.#ports.send({ event, data }),
      run: (run) => this.#ports.sendRun(run),
      report: (loss) => this.#ports.report(loss, exchange),
    })
  }

  #asked({ model, tokens, options: { stop: stops = [] } }: MessagesRequest): Asked {
    return { model, tokens, stops, request: this.#requestId, message: `msg_${this.#id}` }
  }
}
