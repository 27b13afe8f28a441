import { dropped } from '../../../../src/codec-kit/index.ts'
import { type BackPorts, type CallEnd, type CallHead, type Frame, faultOfEnd } from '../../../../src/contract/index.ts'
import {
  addUsage,
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Loss,
  type Part,
  type TurnEnd,
  type TurnStart,
  type Usage,
} from '../../../../src/model/index.ts'
import { faultOfError } from '../../errors.ts'
import type { Options } from '../../options.ts'
import { assistantJson, messageJsons, resultJson } from '../messages.ts'
import { stopOf } from '../stops.ts'
import { ModelAnswer, type ModelCall } from './answer.ts'
import { readChunk } from './chunks.ts'
import { messagesOf, partLoss, requestBody, wireName } from './request.ts'

/** The most requests of one turn: a model that calls the same missing tool again and again is stopped. */
const MAX_CALLS = 100

/** One turn of a model: a request, and one more for each round of calls whose results have come. */
export class ChatTurn {
  readonly #start: Command & TurnStart
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #messages: JsonText[]
  /** Messages of the user that came while the turn runs, for the next request. */
  readonly #steered: JsonText[] = []
  /** The names of the client's tools, as they are on the wire. */
  readonly #tools: ReadonlySet<string>
  /** Calls that wait for their results, and the results that have come. */
  readonly #waiting = new Map<Id, (Part & { type: 'tool-reply' }) | undefined>()
  #answer: ModelAnswer
  #calls = 0
  #started = false
  #ended = false
  #usage: Usage | undefined

  constructor(start: Command & TurnStart, options: Options, ports: BackPorts) {
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#messages = messagesOf(start, this.#report)
    this.#tools = new Set(start.clientTools?.map(wireName))
    this.#answer = this.#newAnswer()
  }

  /** Sends the first request. */
  begin(): void {
    this.#call()
  }

  /** The result of a call of a client's tool; the next request goes out with the last of them. */
  reply({ ask, reply }: CommandOf<'ask-reply'>): void {
    if (ask === undefined || !this.#waiting.has(ask) || reply.kind !== 'tool') return
    const { status, parts } = reply
    this.#waiting.set(ask, { type: 'tool-reply', tool: ask, status, parts })
    this.#ports.emit({ type: 'tool-end', turn: this.#start.turn, tool: ask, status, parts })
    this.#goOn()
  }

  /** Keeps input of the user for the next request. There is one more if the answer that is coming ends without calls. */
  steer({ input }: CommandOf<'turn-steer'>): void {
    this.#steered.push(...messageJsons({ role: 'user', parts: input }, partLoss(this.#report)))
  }

  /** The protocol has no cancel: the turn ends at once, and its call is ended with it. */
  cancel(): void {
    const why = fault('cancelled', 'The turn was cancelled.')
    this.#end({ outcome: 'cancelled', stop: 'aborted', fault: why })
  }

  head({ call, status }: CallHead): void {
    if (this.#isCurrent(call)) this.#answer.status = status
  }

  /** A server-sent event, or the whole body of an answer that is none. */
  frame(frame: Frame): void {
    const { data, call } = typeof frame === 'string' ? { data: frame, call: undefined } : frame
    if (!this.#isCurrent(call)) return
    const { status } = this.#answer
    if (status >= 400) this.#fail(faultOfError(data, status))
    else if (data.trim() === '[DONE]') this.#complete()
    else this.#chunk(data)
  }

  /** A server may leave out `[DONE]`; without a finish reason its answer was cut. */
  callEnd(end: CallEnd): void {
    if (!this.#isCurrent(end.call)) return
    if (end.why === 'cancelled') this.cancel()
    else if (end.why !== 'closed') this.#fail(faultOfEnd(end))
    else this.#complete()
  }

  readonly #report = (loss: Loss): void => this.#ports.report(loss, this.#start.turn)

  #isCurrent(call: string | undefined): boolean {
    return !this.#ended && (call === undefined || call === String(this.#calls))
  }

  #newAnswer(): ModelAnswer {
    return new ModelAnswer(this.#start.turn, this.#ports, (name) => (this.#tools.has(name) ? 'client' : 'agent'))
  }

  #call(): void {
    this.#calls += 1
    if (this.#calls > MAX_CALLS) {
      this.#fail(fault('provider-error', `The model has not come to an end after ${MAX_CALLS} requests.`))
      return
    }
    this.#answer = this.#newAnswer()
    this.#ports.open({
      call: String(this.#calls),
      kind: 'http',
      method: 'POST',
      path: '/chat/completions',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: requestBody(this.#start, this.#options, this.#messages, this.#report),
      answer: 'body',
    })
  }

  #chunk(data: string): void {
    const said = readChunk(data, this.#report)
    if (!said) {
      this.#fail(fault('protocol-violation', 'The model provider sent something that is no chunk of an answer.'))
      return
    }
    if (said.error !== undefined) {
      this.#fail(faultOfError(said.error, undefined))
      return
    }
    if (!this.#started) {
      this.#started = true
      this.#ports.emit({ type: 'turn-started', turn: this.#start.turn })
    }
    if (said.usage) this.#usage = addUsage(this.#usage ?? {}, said.usage)
    this.#answer.take(said)
  }

  /** The answer is over: the turn ends, or waits for the results of the calls. */
  #complete(): void {
    const { finish } = this.#answer
    if (finish === undefined) {
      this.#fail(fault('provider-down', 'The model provider cut its answer off; send the request again.'))
      return
    }
    this.#answer.end()
    const { calls } = this.#answer
    if (calls.length === 0 && (finish !== 'stop' || this.#steered.length === 0)) {
      if (finish === 'error') this.#fail(fault('provider-error', 'The model provider ended its answer with an error.'))
      else this.#end({ outcome: 'completed', stop: stopOf(finish) })
      return
    }
    this.#messages.push(assistantJson(this.#answer.parts, partLoss(this.#report)))
    for (const { tool } of calls) this.#waiting.set(tool, undefined)
    for (const call of calls) this.#ask(call)
    this.#goOn()
  }

  /** Only a tool of the client is for the client to run; a call of any other gets an error as its result. */
  #ask({ tool, name }: ModelCall): void {
    if (this.#tools.has(name)) {
      this.#ports.emit({ type: 'ask', turn: this.#start.turn, ask: tool, question: { kind: 'tool', tool } })
      return
    }
    const parts = [{ type: 'text' as const, text: `There is no tool "${name}".` }]
    this.#waiting.set(tool, { type: 'tool-reply', tool, status: 'error', parts })
    this.#ports.emit({ type: 'tool-end', turn: this.#start.turn, tool, status: 'error', parts })
  }

  /** Sends the next request when every call has its result: servers want the results right behind the calls. */
  #goOn(): void {
    const results = [...this.#waiting.values()]
    if (this.#ended || results.includes(undefined)) return
    this.#waiting.clear()
    for (const result of results) this.#messages.push(resultJson(result!, partLoss(this.#report)))
    this.#messages.push(...this.#steered.splice(0))
    this.#call()
  }

  #fail(why: Fault): void {
    const cancelled = why.code === 'cancelled'
    this.#end({ outcome: cancelled ? 'cancelled' : 'failed', stop: cancelled ? 'aborted' : 'error', fault: why })
  }

  #end(end: Pick<TurnEnd, 'outcome' | 'stop' | 'fault'>): void {
    if (this.#ended) return
    this.#ended = true
    const { turn } = this.#start
    if (this.#steered.length > 0) this.#report({ ...dropped('turn-steer'), count: this.#steered.length })
    if (this.#usage) this.#ports.emit({ type: 'usage', turn, scope: 'turn', usage: this.#usage })
    this.#ports.emit({ type: 'turn-end', turn, ...end })
  }
}
