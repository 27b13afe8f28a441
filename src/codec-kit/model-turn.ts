import {
  type BackPorts,
  type CallEnd,
  type CallHead,
  type Frame,
  faultOfEnd,
  type WireText,
} from '../contract/index.ts'
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
  type Stop,
  type TextRun,
  type TurnEnd,
  type TurnSettings,
  type TurnStart,
  type Usage,
} from '../model/index.ts'
import { dropped, type Report } from './losses.ts'
import { retryAfterMs } from './retry-after.ts'

/** A call that a model made. The client only runs calls of its own tools. */
export interface ModelCall {
  tool: Id
  name: string
  args: string
  executor: 'client' | 'agent'
}

/** One answer of a model while it is read: emits what the model says as events of the turn. */
export interface ModelAnswer {
  /** True once it is over, whatever else the server sends. */
  readonly over: boolean
  /**
   * The reason for its end, or the fault that ended it; undefined when it was cut off. `pause`: the server gives the rest
   * of it to another request.
   */
  readonly ending: Stop | 'pause' | Fault | undefined
  readonly usage: Usage | undefined
  /** The calls that it made, in order. */
  readonly calls: readonly ModelCall[]
  /**
   * Reads a server-sent event, or the whole body of an answer that is none, and emits nothing. Returns a fault when it
   * ends the turn.
   */
  take(data: string): Fault | undefined
  /** Emits what was taken last. */
  say(): void
  /** Reads events that are pieces of its text, and emits nothing. */
  texts(wire: WireText): TextRun | undefined
  /** It is complete: its messages end, and its calls have all of their arguments. */
  end(): void
  /** Writes it as a part of the conversation that the next request has. */
  write(): readonly JsonText[]
}

/** The result of a call, for the model. `saysStatus`: a text of its own says that the call has failed. */
export type CallResult = Part & { type: 'tool-reply' } & { saysStatus?: true }

/** The wire of one server of a model, for one turn. */
export interface ModelApi {
  /** The conversation of the first request: the earlier messages, and the input. */
  readonly beginning: readonly JsonText[]
  /** Writes further input of the user. */
  input(parts: readonly Part[]): readonly JsonText[]
  /** Writes the results of all calls of an answer, in the order of the calls. */
  results(results: readonly CallResult[]): readonly JsonText[]
  /** Has the next requests say these options and tools instead of those before. */
  change(settings: TurnSettings): void
  /** Writes a request with the whole conversation so far; `report` gets what the wire has no form for. */
  request(
    conversation: readonly JsonText[],
    report: Report,
  ): {
    path: string
    headers?: Readonly<Record<string, string>>
    body: string
  }
  /** Reads the answer to it. */
  answer(): ModelAnswer
  /** Reads the body of an answer with a failing status. */
  refusal(body: string, status: number): Fault
}

/** The most requests of one turn: a model that calls the same missing tool again and again is stopped. */
const MAX_CALLS = 100

/** Ends of an incomplete answer: the arguments of its calls may be incomplete too, so the calls are not run. */
const CUT: ReadonlySet<Stop> = new Set(['max-tokens', 'context-window', 'content-filter', 'refusal'])
const CUT_OFF = fault('provider-down', 'The model provider cut its answer off; send the request again.')
const elsewhere = (status: number): Fault =>
  fault(
    'protocol-violation',
    `The model provider sends the request elsewhere (HTTP status ${status}); check its \`url\`.`,
  )
const NO_HEAD = { status: 200, headers: {} } as const

/**
 * One turn of a server that keeps nothing: a request with the whole conversation, and one more for each round of calls
 * whose results have come.
 */
export class ModelTurn {
  readonly #start: Command & TurnStart
  readonly #ports: BackPorts
  readonly #api: ModelApi
  readonly #conversation: JsonText[]
  /** Input of the user that came while the turn runs, for the next request. */
  readonly #steered: JsonText[] = []
  /** Calls that wait for their results, and the results that have come. */
  readonly #waiting = new Map<Id, CallResult | undefined>()
  /** The answer that is being read. */
  #answer: ModelAnswer | undefined
  #head: Pick<CallHead, 'status' | 'headers'> = NO_HEAD
  #calls = 0
  #state: 'begun' | 'started' | 'ended' = 'begun'
  /** No request has said the options and tools yet, so their losses are not reported yet. */
  #unsaid = true
  #usage: Usage | undefined

  /** `open` makes the wire of the turn; it reports there what the wire has no form for. */
  constructor(start: Command & TurnStart, ports: BackPorts, open: (report: Report) => ModelApi) {
    this.#start = start
    this.#ports = ports
    this.#api = open((loss) => ports.report(loss, start.turn))
    this.#conversation = [...this.#api.beginning]
  }

  /** Sends the first request. */
  begin(): void {
    this.#call()
  }

  /** The result of a call of a client's tool; the next request goes out with the last of them. */
  reply({ ask, reply, settings }: CommandOf<'ask-reply'>): void {
    if (settings) {
      this.#api.change(settings)
      this.#unsaid = true
    }
    if (ask === undefined || !this.#waiting.has(ask) || reply.kind !== 'tool') return
    const { status, parts, ext } = reply
    this.#waiting.set(ask, { type: 'tool-reply', tool: ask, status, parts, ...(ext && { ext }) })
    this.#ports.emit({ type: 'tool-end', turn: this.#start.turn, tool: ask, status, parts })
    this.#goOn()
  }

  /** Keeps input of the user for the next request. There is one more if the answer that is coming ends without calls. */
  steer({ input }: CommandOf<'turn-steer'>): void {
    this.#steered.push(...this.#api.input(input))
  }

  /** The wire has no cancel: the turn ends at once, and its call is ended with it. */
  cancel(): void {
    const why = fault('cancelled', 'The turn was cancelled.')
    this.#end({ outcome: 'cancelled', stop: 'aborted', fault: why })
  }

  /** Takes the head of an answer. */
  head(head: CallHead): void {
    if (!this.#answerTo(head.call)) return
    this.#head = head
    if (head.status >= 300 && head.status < 400) this.#fail(elsewhere(head.status))
  }

  /** Takes a server-sent event, or the whole body of an answer that is none. */
  frame(frame: Frame): void {
    const { data, call } = typeof frame === 'string' ? { data: frame, call: undefined } : frame
    const answer = this.#answerTo(call)
    if (!answer) return
    const { status, headers } = this.#head
    if (status >= 400) {
      const wait = retryAfterMs(headers)
      this.#fail({ ...this.#api.refusal(data, status), ...(wait !== undefined && { retryAfterMs: wait }) })
      return
    }
    const wrong = answer.take(data)
    if (wrong) {
      this.#fail(wrong)
      return
    }
    if (this.#state === 'begun') {
      this.#state = 'started'
      this.#ports.emit({ type: 'turn-started', turn: this.#start.turn })
    }
    answer.say()
    if (answer.over) this.#complete(answer)
  }

  /** Takes server-sent events that are pieces of text. */
  texts(wire: WireText): TextRun | undefined {
    return this.#answerTo(wire.call)?.texts(wire)
  }

  /** A call has ended: its answer is over, or was cut. */
  callEnd(end: CallEnd): void {
    const answer = this.#answerTo(end.call)
    if (!answer) return
    if (end.why === 'cancelled') this.cancel()
    else if (end.why === 'closed') this.#complete(answer)
    else this.#fail(this.#isCut(end) ? CUT_OFF : faultOfEnd(end))
  }

  /** An answer that had begun has no end; this is another error than an answer that cannot be read. */
  #isCut({ why, unreadable }: CallEnd): boolean {
    return why === 'failed' && this.#head !== NO_HEAD && !unreadable
  }

  /** Every request with the same options and tools has the same losses. */
  #lost(loss: Loss): void {
    if (this.#unsaid) this.#ports.report(loss, this.#start.turn)
  }

  /** The answer that a call brings, while it is being read. */
  #answerTo(call: string | undefined): ModelAnswer | undefined {
    const isCurrent = this.#state !== 'ended' && (call === undefined || call === String(this.#calls))
    return isCurrent ? this.#answer : undefined
  }

  #call(): void {
    this.#calls += 1
    if (this.#calls > MAX_CALLS) {
      this.#fail(fault('provider-error', `The model has not come to an end after ${MAX_CALLS} requests.`))
      return
    }
    this.#answer = this.#api.answer()
    this.#head = NO_HEAD
    const { path, headers, body } = this.#api.request(this.#conversation, (loss) => this.#lost(loss))
    this.#unsaid = false
    this.#ports.open({
      call: String(this.#calls),
      kind: 'http',
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body,
      answer: 'body',
    })
  }

  /** An answer is over: the turn ends, or waits for the results of the calls. */
  #complete(answer: ModelAnswer): void {
    const { ending } = answer
    if (ending === undefined) {
      this.#fail(CUT_OFF)
      return
    }
    answer.end()
    const { calls, usage } = answer
    if (typeof ending !== 'string') this.#fail(ending)
    else if (this.#isLast(ending, calls)) {
      this.#end({ outcome: 'completed', stop: ending })
    } else {
      // A client that runs the calls gets the tokens with them.
      if (usage) this.#ports.emit({ type: 'usage', turn: this.#start.turn, scope: 'call', usage })
      this.#count()
      this.#answer = undefined
      this.#conversation.push(...answer.write())
      for (const { tool } of calls) this.#waiting.set(tool, undefined)
      for (const call of calls) this.#ask(call)
      this.#goOn()
    }
  }

  /** True when no request follows an answer that has ended like this. */
  #isLast(ending: Stop | 'pause', calls: readonly ModelCall[]): ending is Stop {
    if (ending === 'pause') return false
    return CUT.has(ending) || (calls.length === 0 && (ending !== 'end' || this.#steered.length === 0))
  }

  /** A call of a tool that is not declared gets an error as its result. */
  #ask({ tool, name, executor }: ModelCall): void {
    const { turn } = this.#start
    if (executor === 'client') {
      this.#ports.emit({ type: 'ask', turn, ask: tool, question: { kind: 'tool', tool } })
      return
    }
    const parts = [{ type: 'text' as const, text: `There is no tool "${name}".` }]
    this.#waiting.set(tool, { type: 'tool-reply', tool, status: 'error', parts, saysStatus: true })
    this.#ports.emit({ type: 'tool-end', turn, tool, status: 'error', parts })
  }

  /** Sends the next request when every call has its result: servers want the results right after the calls. */
  #goOn(): void {
    const results = [...this.#waiting.values()]
    if (this.#state === 'ended' || !results.every((result) => result !== undefined)) return
    this.#waiting.clear()
    if (results.length > 0) this.#conversation.push(...this.#api.results(results))
    this.#conversation.push(...this.#steered.splice(0))
    this.#call()
  }

  /** Adds the usage of an answer that is over. */
  #count(): void {
    const usage = this.#answer?.usage
    if (usage) this.#usage = addUsage(this.#usage ?? {}, usage)
  }

  #fail(why: Fault): void {
    const cancelled = why.code === 'cancelled'
    this.#end({ outcome: cancelled ? 'cancelled' : 'failed', stop: cancelled ? 'aborted' : 'error', fault: why })
  }

  #end(end: Pick<TurnEnd, 'outcome' | 'stop' | 'fault'>): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    // A result that comes later is for nobody: nothing follows the end of a turn.
    this.#waiting.clear()
    const { turn } = this.#start
    this.#count()
    if (this.#steered.length > 0) this.#ports.report({ ...dropped('turn-steer'), count: this.#steered.length }, turn)
    if (this.#usage) this.#ports.emit({ type: 'usage', turn, scope: 'turn', usage: this.#usage })
    this.#ports.emit({ type: 'turn-end', turn, ...end })
  }
}
