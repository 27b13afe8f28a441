import { isJsonType, sendRequest, toolAnswer, UNRETRIED } from '../../../../src/codec-kit/index.ts'
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
import type { Fault, Id, Loss, TextRun, TurnEvent, TurnView } from '../../../../src/model/index.ts'
import { frontCapabilities } from '../../capabilities.ts'
import { DeclaredTools } from '../../declared-tools.ts'
import { errorBody, faultOfTurn, invalidRequest } from '../../errors.ts'
import { modelList } from '../../models.ts'
import { type Asked, wholeAnswer } from './answer.ts'
import { reportLosses, reportTools } from './losses.ts'
import { type ChatRequest, readRequest } from './request.ts'
import { ChunkWriter } from './stream.ts'

/** A client of `POST /v1/chat/completions`: one request in, one answer out, whole or in chunks. */
export const front: FrontHalf = {
  capabilities: frontCapabilities,
  env: [],
  namesAgents: true,
  accepts: (_first, { transport }) => transport === 'http',
  open: (context, ports) => (context.method === 'GET' ? modelList(context, ports) : new ChatFront(context, ports)),
}

class ChatFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** The gateway takes them when the answer begins. */
  readonly #headers: Record<string, string> = {}
  #asked: Asked | undefined
  #answer: Answer | undefined
  /** The request goes on with a turn whose agent has started. */
  #continued = false
  /** Writes the chunks of a stream; absent for a whole answer. */
  #chunks: ChunkWriter | undefined

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(frame: Frame): void {
    const { headers } = this.#context
    const id = headers['x-request-id']
    if (id) this.#headers['x-request-id'] = id
    if (!isJsonType(headers['content-type'])) {
      this.#ports.fault(
        invalidRequest('The body must be JSON; send it as application/json.'),
        'continues',
        undefined,
        415,
      )
      return
    }
    const request = readRequest(frameText(frame))
    if ('code' in request) {
      this.#ports.fault(request, 'continues')
      return
    }
    const exchange = this.#ports.newId()
    this.#asked = { model: request.model, tools: new DeclaredTools(request.tools) }
    if (request.streams) this.#stream(request, exchange)
    sendRequest(request, this.#context, this.#ports, exchange, (command) => {
      this.#continued = command.type === 'ask-reply'
      this.#answer = { ...toolAnswer(request.streams, command), headers: this.#headers }
      return this.#answer
    })
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#headers['x-request-id'] ??= view.turn
    if (event.type === 'turn-started' || this.#continued) this.#started()
    // Nothing is lost of most events.
    if (this.#chunks && event.type === 'text-delta' && event.ext === undefined) {
      this.#chunks.write(event, view)
      return
    }
    const report = (loss: Loss): void => this.#ports.report(loss, exchange)
    reportLosses(event, view, report)
    if (event.type === 'turn-end' || event.type === 'turn-parked') reportTools(view, this.#chunks === undefined, report)
    const failed = event.type === 'turn-end' && event.outcome !== 'completed' ? faultOfTurn(event) : undefined
    if (failed) this.#mayRetry(failed)
    if (failed && !this.#chunks?.begun) this.#ports.send(errorBody(failed))
    else if (this.#chunks) this.#chunks.write(event, view)
    else if (event.type === 'turn-end' || event.type === 'turn-parked') {
      this.#ports.send(wholeAnswer(event, view, this.#asked!, this.#ports.losses(exchange)))
    }
  }

  encodeTexts(run: TextRun, exchange: Id, view: TurnView): void {
    if (this.#chunks?.begun && !this.#continued) this.#chunks.texts(run, view)
    else for (const event of run.events) this.encode(event, exchange, view)
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    this.#mayRetry(found)
    if (this.#chunks?.begun) this.#chunks.fail(found)
    else this.#ports.send(errorBody(found))
  }

  keepAlive(): void {
    this.#chunks?.keepAlive()
  }

  /** A client that sends the request again would have the agent do its work again. */
  #started(): void {
    this.#headers['x-should-retry'] = 'false'
    this.#answer!.failureStatus = UNRETRIED
  }

  /** Tells the client that its request would fail again, where it would. */
  #mayRetry({ retryable }: Fault): void {
    if (!retryable) this.#headers['x-should-retry'] = 'false'
  }

  #stream({ countsUsage }: ChatRequest, exchange: Id): void {
    this.#headers['cache-control'] = 'no-cache'
    this.#chunks = new ChunkWriter(this.#asked!, countsUsage, {
      data: (data) => this.#ports.send({ data }),
      run: (run) => this.#ports.sendRun(run),
      losses: () => this.#ports.losses(exchange),
    })
  }
}
