import {
  type Cited,
  DeltaReader,
  type KnownMembers,
  type ModelAnswer,
  type ModelCall,
  placedCitation,
  reportFurther,
  TurnEmitter,
  weakened,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts, WireText } from '../../../src/contract/index.ts'
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
  type Part,
  quote,
  type Stop,
  type TextRun,
  type Usage,
} from '../../../src/model/index.ts'
import { faultOfError } from '../errors.ts'
import { stopOf } from '../stops.ts'
import { readUsage } from '../usage.ts'
import { PROTOCOL } from '../wire.ts'
import { AnswerBlock } from './block.ts'
import { EVENTS } from './deltas.ts'
import type { WireBlock, WireEvent } from './events.ts'

const NO_EVENT = fault('protocol-violation', 'The model provider sent something that is no event of an answer.')

/** The members around the blocks of a message that are read, or that the gateway says itself. */
const AROUND: KnownMembers = {
  id: true,
  type: true,
  role: true,
  model: true,
  content: true,
  delta: true,
  stop_reason: true,
  stop_sequence: true,
  usage: true,
}

/** One answer of the model while it streams: emits its blocks as events of the turn. */
export class MessagesAnswer implements ModelAnswer {
  readonly #emitter: TurnEmitter
  readonly #executorOf: (name: string) => ModelCall['executor']
  readonly #report = (loss: Loss): void => this.#emitter.report(loss)
  readonly #events = new DeltaReader(EVENTS)
  readonly #blocks = new Map<number, AnswerBlock>()
  /** Those of its calls. */
  readonly #ids = new Set<Id>()
  over = false
  usage: Usage | undefined
  ending: Stop | 'pause' | undefined
  #event: WireEvent | 'unknown' = 'unknown'
  /** The event as it came. */
  #data: JsonText = ''
  #message: Id | undefined

  /** `executorOf` says who runs the tool of a name. */
  constructor(turn: Id, ports: BackPorts, executorOf: (name: string) => ModelCall['executor']) {
    this.#emitter = new TurnEmitter(ports, turn)
    this.#executorOf = executorOf
  }

  get calls(): readonly ModelCall[] {
    return [...this.#blocks.values()].flatMap(({ call }) => call ?? [])
  }

  take(data: string): Fault | undefined {
    const event = this.#events.read(data, this.#report)
    if (event === undefined) return NO_EVENT
    if (event !== 'unknown' && event.type === 'error') return faultOfError(data, undefined)
    this.#event = event
    this.#data = data
    return undefined
  }

  say(): void {
    const event = this.#event
    if (event === 'unknown') this.#emitter.emit({ type: 'foreign', protocol: PROTOCOL, frame: this.#data })
    else this.#say(event)
  }

  texts(wire: WireText): TextRun | undefined {
    const { known } = this.#events
    const block = known?.kind === 'text' ? this.#blocks.get(known.index) : undefined
    return block?.isText ? block.takeTexts(this.#events.textsIn(wire)) : undefined
  }

  end(): void {
    const blocks = [...this.#blocks.values()]
    if (this.#message !== undefined) {
      const whole = blocks.some(({ composed }) => composed) ? { parts: blocks.map(({ part }) => part) } : {}
      this.#emitter.emit({ type: 'message-end', message: this.#message, ...whole })
    }
    for (const call of this.calls) this.#emitter.emit({ type: 'tool-call', ...call })
  }

  write(): readonly JsonText[] {
    const blocks = [...this.#blocks.values()].filter(({ part }) => part.type !== 'text' || part.text.trim() !== '')
    if (blocks.length === 0) return []
    return [
      object([
        ['role', '"assistant"'],
        ['content', `[${blocks.map(({ json }) => json).join(',')}]`],
      ]),
    ]
  }

  #say(event: WireEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#reportAround(event.message)
        this.#count(event.message.usage)
        return
      case 'content_block_start':
        this.#begin(event.index, event.content_block, member(this.#data, 'content_block')!)
        return
      case 'content_block_delta':
        this.#blocks.get(event.index)?.take(event.delta, this.#data)
        return
      case 'content_block_stop':
        this.#endBlock(event.index, this.#data)
        return
      case 'message_delta':
        this.#reportAround(event.delta)
        this.#reportAround(event)
        this.#stop(event.delta.stop_reason, event.usage)
        return
      case 'message_stop':
        this.over = true
        return
      case 'message':
        this.#whole(event)
    }
  }

  /** An answer in one piece, from a server that does not stream. */
  #whole(event: Extract<WireEvent, { type: 'message' }>): void {
    const { content, stop_reason: reason, usage } = event
    this.#reportAround(event)
    const raws = elements(member(this.#data, 'content')!)
    for (const [index, block] of content.entries()) {
      this.#begin(index, block, raws[index]!)
      this.#endBlock(index, raws[index]!)
    }
    this.#stop(reason, usage)
    this.over = true
  }

  #begin(index: number, block: WireBlock, raw: JsonText): void {
    const message = { emitter: this.#emitter, id: this.#open(), executorOf: this.#executorOf }
    const { id } = block
    const used = id != null && this.#ids.has(id)
    const own = used ? this.#emitter.ports.newId() : id
    if (own != null) this.#ids.add(own)
    const named = used ? withId(raw, own!) : raw
    this.#blocks.set(index, new AnswerBlock(used ? { ...block, id: own } : block, named, message))
  }

  #endBlock(index: number, raw: JsonText): void {
    const block = this.#blocks.get(index)
    block?.end(raw)
    if (block?.isCited) this.#cite(index, block.part as Part & Cited)
  }

  /** A text supports its sources as a whole: their place is that of the text in its message. */
  #cite(index: number, { text, citations = [] }: Cited): void {
    const before = [...this.#blocks].reduce((sum, [at, { length }]) => (at < index ? sum + length : sum), 0)
    const message = this.#open()
    for (const citation of citations) {
      this.#emitter.emit({ type: 'citation', message, ...placedCitation(citation, text, before) })
    }
  }

  /** Reports what the message has around its blocks. */
  #reportAround(value: Readonly<Record<string, unknown>>): void {
    reportFurther(value, AROUND, (loss) => this.#emitter.report(loss))
  }

  #stop(reason: string | null | undefined, usage: unknown): void {
    if (reason != null) {
      const stop = stopOf(reason)
      if (stop === undefined) this.#emitter.report(weakened('end.stop', reason))
      this.ending = stop ?? 'end'
    }
    this.#count(usage)
  }

  /** Counts are those of the answer so far: later ones replace earlier ones. */
  #count(usage: unknown): void {
    const counted = readUsage(usage, this.#report)
    if (counted) this.usage = { ...this.usage, ...counted }
  }

  #open(): Id {
    this.#message ??= this.#emitter.openMessage()
    return this.#message
  }
}

/** A block with another id: two calls with one would have one result. */
function withId(raw: JsonText, id: Id): JsonText {
  return object(members(raw).map(([key, value]) => [key, key === 'id' ? quote(id) : value] as const))
}
