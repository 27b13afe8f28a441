import {
  DeltaReader,
  dropped,
  type ModelAnswer,
  type ModelCall,
  reportFurther,
} from '../../../../src/codec-kit/index.ts'
import type { BackPorts, WireText } from '../../../../src/contract/index.ts'
import {
  elements,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Loss,
  member,
  members,
  object,
  parseObject,
  quote,
  type Stop,
  type TextRun,
  type Usage,
} from '../../../../src/model/index.ts'
import type { DeclaredTools } from '../../declared-tools.ts'
import { faultOfError } from '../../errors.ts'
import { isFilled } from '../../part-loss.ts'
import { PROTOCOL } from '../../wire.ts'
import { stopOfIncomplete } from '../stops.ts'
import { readUsage } from '../usage.ts'
import { ClientCalls } from './client-calls.ts'
import { EVENTS, type EventDelta } from './deltas.ts'
import { type Body, bodyJson, type Item, type ServerEvent } from './events.ts'
import { BODY, reportItem } from './further.ts'
import { ProviderCalls } from './provider-calls.ts'
import { Speech } from './speech.ts'

const NO_EVENT = fault('protocol-violation', 'The model provider sent something that is no event of an answer.')
const CANCELLED = fault('cancelled', 'The model provider cancelled its answer.')

/** Events that end an answer. */
const ENDS: ReadonlySet<string> = new Set(
  ['completed', 'incomplete', 'failed', 'cancelled'].map((status) => `response.${status}`),
)

/** One answer of the model while it streams: each output item becomes a message, a call, or reasoning of the turn. */
export class ResponseAnswer implements ModelAnswer {
  static readonly #EVENTS: Readonly<Record<string, (answer: ResponseAnswer, event: ServerEvent) => void>> = {
    'response.output_text.delta': (answer, event) => answer.#speech.text(event),
    'response.output_text.annotation.added': (answer, event) => answer.#speech.cite(event),
    'response.refusal.delta': (answer, { at, delta }) => answer.#speech.refuse(at, delta),
    'response.reasoning_summary_text.delta': (answer, event) => answer.#speech.think(event),
    'response.reasoning_text.delta': (answer, event) => answer.#speech.think(event),
    'response.function_call_arguments.delta': (answer, { at, delta }) => answer.#calls.argue(at, delta),
    'response.custom_tool_call_input.delta': (answer, { at, delta }) => answer.#calls.argue(at, delta),
    'response.output_item.added': (answer, event) => answer.#begin(event),
    'response.output_item.done': (answer, { at, item, json }) => item && answer.#done(at, item, member(json, 'item')!),
    'response.completed': (answer, event) => answer.#ended(event),
    'response.incomplete': (answer, event) => answer.#ended(event),
  }

  readonly #turn: Id
  readonly #ports: BackPorts
  readonly #report: (loss: Loss) => void
  readonly #speech: Speech
  readonly #provider: ProviderCalls
  readonly #calls: ClientCalls
  /** The items that are complete, as they came, by their place. */
  readonly #items = new Map<number, JsonText>()
  readonly #events = new DeltaReader<ServerEvent | 'repeated', EventDelta>(EVENTS)
  #taken: ServerEvent | undefined
  over = false
  ending: Stop | Fault | undefined
  usage: Usage | undefined

  constructor(turn: Id, ports: BackPorts, report: (loss: Loss) => void, tools: DeclaredTools) {
    this.#turn = turn
    this.#ports = ports
    this.#report = report
    this.#calls = new ClientCalls(turn, ports, tools)
    this.#speech = new Speech(turn, ports)
    this.#provider = new ProviderCalls(turn, ports)
  }

  get calls(): readonly ModelCall[] {
    return this.#calls.list
  }

  take(data: string): Fault | undefined {
    this.#taken = undefined
    if (data.trim() === '[DONE]') {
      this.over = true
      return undefined
    }
    const event = this.#events.read(data, this.#report)
    if (!event) {
      const error = parseObject(data) && member(data, 'error')
      return error === undefined || error === 'null' ? NO_EVENT : faultOfError(error, undefined)
    }
    if (event === 'repeated') return undefined
    this.#taken = event
    if (event.body && ENDS.has(event.type)) this.#count(event.body)
    return failureOf(event)
  }

  say(): void {
    const event = this.#taken
    if (!event) return
    const { type, json: frame } = event
    const say = Object.hasOwn(ResponseAnswer.#EVENTS, type) ? ResponseAnswer.#EVENTS[type] : undefined
    if (say) say(this, event)
    else this.#ports.emit({ type: 'foreign', turn: this.#turn, protocol: PROTOCOL, frame })
  }

  texts(wire: WireText): TextRun | undefined {
    const { known } = this.#events
    return known?.kind === 'response.output_text.delta'
      ? this.#speech.texts(known.event, this.#events.textsIn(wire))
      : undefined
  }

  end(): void {
    this.#speech.end(this.calls)
    for (const call of this.calls) this.#ports.emit({ type: 'tool-call', turn: this.#turn, ...call })
  }

  /** The items go back as they came. A server that keeps nothing cannot read reasoning without its encrypted form. */
  write(): readonly JsonText[] {
    const items = [...this.#items].sort(([one], [other]) => one - other)
    return items.flatMap(([at, item]) => {
      const call = this.#calls.at(at)
      if (call) return withCallId(item, call.tool)
      if (member(item, 'type') !== '"reasoning"') return item
      const encrypted = member(item, 'encrypted_content')
      return encrypted === undefined || encrypted === 'null' ? [] : item
    })
  }

  #begin({ at, item }: ServerEvent): void {
    if (!item) return
    if (item.type === 'message') this.#speech.item(at, item.phase)
    else if (isCall(item)) this.#call(at, item)
    else if (item.type !== 'reasoning') this.#provider.begin(at, item)
  }

  #message(at: number, item: Item, json: JsonText): void {
    this.#speech.message(at, item, json)
    for (const { logprobs } of item.content ?? []) if (isFilled(logprobs)) this.#report(dropped('ext', 'logprobs'))
  }

  #done(at: number, item: Item, json: JsonText): void {
    this.#items.set(at, json)
    reportItem(item, this.#report)
    if (item.type === 'message') this.#message(at, item, json)
    else if (item.type === 'reasoning') this.#speech.reasoned(at, item)
    else if (isCall(item)) this.#call(at, item, item.arguments ?? item.input ?? '')
    else this.#provider.done(at, item, json)
  }

  #count({ usage }: Body): void {
    this.usage = readUsage(usage, this.#report)
  }

  /** The items of the whole answer without an event are read from it. */
  #ended(event: ServerEvent): void {
    const { type, body } = event
    this.over = true
    if (body) reportFurther(body, BODY, this.#report)
    const output = body?.output ?? []
    if (output.some((_, at) => !this.#items.has(at))) this.#add(output, event)
    this.ending = type === 'response.incomplete' ? stopOfIncomplete(body?.incomplete_details?.reason) : 'end'
  }

  /** Reads the items that had no event. Servers may leave out places: an item that is done has its id. */
  #add(output: readonly Item[], event: ServerEvent): void {
    const raws = elements(member(bodyJson(event), 'output')!)
    const told = new Set([...this.#items.values()].map((item) => member(item, 'id')))
    for (const [at, item] of output.entries()) {
      if (!this.#items.has(at) && !(item.id != null && told.has(quote(item.id)))) this.#done(at, item, raws[at]!)
    }
  }

  /** A call begins, or is complete: then its arguments are those of `whole`, where no piece of them has come. */
  #call(at: number, item: Item, whole = ''): void {
    if (!this.#calls.at(at)) this.#calls.begin(at, item, () => this.#speech.open())
    if (this.#calls.at(at)!.args === '') this.#calls.argue(at, whole)
  }
}

/** A call with the id that its result has: servers leave it out, or give it to two calls. */
function withCallId(item: JsonText, id: Id): JsonText {
  if (member(item, 'call_id') === quote(id)) return item
  return object([...members(item).filter(([key]) => key !== 'call_id'), ['call_id', quote(id)]])
}

/** The fault of an event that ends the turn. */
function failureOf(event: ServerEvent): Fault | undefined {
  const { type, json } = event
  if (type === 'response.failed') return faultOfError(member(bodyJson(event), 'error') ?? '{}', undefined)
  if (type === 'response.cancelled') return CANCELLED
  return type === 'error' ? faultOfError(member(json, 'error') ?? json, undefined) : undefined
}

/** True for a call of a tool that the gateway's client may have declared. */
function isCall({ type }: Item): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}
