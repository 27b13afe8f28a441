import {
  characters,
  hasFurther,
  type ModelCall,
  reportFurther,
  type TurnEmitter,
} from '../../../src/codec-kit/index.ts'
import {
  elements,
  type Id,
  type JsonText,
  member,
  members,
  object,
  type Part,
  parseObject,
  quote,
  TextRun,
} from '../../../src/model/index.ts'
import { readCitation } from '../citations.ts'
import { inputOf } from '../input.ts'
import { readBlock } from '../read-blocks.ts'
import { ownExt, PROTOCOL, toExt } from '../wire.ts'
import type { WireBlock, WireDelta } from './events.ts'

/** The message that a block belongs to. */
export interface BlockMessage {
  emitter: TurnEmitter
  id: Id
  /** Says who runs the tool of a name. */
  executorOf(name: string): ModelCall['executor']
}

type Kind = 'text' | 'thinking' | 'call' | 'server-call' | 'fixed'

/** The members of a text without anything else. */
const PLAIN = { type: true, text: true } as const

/** One block of an answer: collects its pieces, and emits them as events of the turn. */
export class AnswerBlock {
  readonly #raw: JsonText
  readonly #block: WireBlock
  readonly #message: BlockMessage
  readonly #kind: Kind
  /** The call in it, which the client runs or the server has run. */
  readonly call: ModelCall | undefined
  /** Its text, its reasoning, or the arguments of its call, as far as they came in pieces. */
  #text = ''
  #signature = ''
  readonly #citations: JsonText[]

  /** `raw` is the block as it began. */
  constructor(block: WireBlock, raw: JsonText, message: BlockMessage) {
    this.#raw = raw
    this.#block = block
    this.#message = message
    this.#kind = kindOf(block)
    const given = this.#kind === 'text' ? member(raw, 'citations') : undefined
    this.#citations = given?.startsWith('[') ? elements(given).filter(readCitation) : []
    const { id, name } = block
    if (this.#kind === 'call') this.call = { tool: id!, name: name!, args: '', executor: message.executorOf(name!) }
    this.#begin()
  }

  /** Takes a piece; `event` is the whole event that brought it. */
  take({ text, thinking, signature, partial_json: args }: WireDelta, event: JsonText): void {
    if (text != null && this.#kind === 'text') this.#say(text)
    else if (thinking != null && this.#kind === 'thinking') this.#think(thinking)
    else if (signature != null && this.#kind === 'thinking') this.#signature += signature
    else if (args != null && this.#tool !== undefined) this.#argue(this.#tool, args)
    else this.#other(event)
  }

  /** Takes pieces of its text, none of which is empty, and emits nothing. */
  takeTexts(texts: string[]): TextRun | undefined {
    if (texts.length === 0) return undefined
    const run = TextRun.from(this.#message.emitter.turn, this.#message.id, texts)
    this.#text += run.text
    return run
  }

  /** Nothing more of it comes; `event` is the event that says so. */
  end(event: JsonText): void {
    if (this.#kind === 'call') this.call!.args = this.#args
    const { emitter, id: message } = this.#message
    const { part } = this
    // A stream has no place for what a block has besides: it has begun without that.
    const own = part.type === 'text' || part.type === 'reasoning' ? ownExt(part.ext) : undefined
    if (own !== undefined) reportFurther(parseObject(own)!, {}, (loss) => emitter.report(loss))
    if (part.type === 'reasoning') {
      emitter.emit({ type: 'reasoning-end', message, ...(part.seal && { seal: part.seal }) })
    } else if (part.type === 'tool-call' && this.#kind === 'server-call') {
      const { tool, name, args } = part
      emitter.emit({ type: 'tool-call', tool, name, args, executor: 'provider' }, part.ext)
    } else if (part.type === 'tool-reply') {
      const { tool, status, parts } = part
      emitter.emit({ type: 'tool-end', tool, status, parts }, part.ext)
    } else if (part.type === 'data') emitter.emit({ type: 'foreign', protocol: PROTOCOL, frame: event })
  }

  /** The block as a whole, for the next request. */
  get json(): JsonText {
    switch (this.#kind) {
      case 'text':
        return this.#with([
          ['text', quote(this.#text)],
          ['citations', this.#citations.length === 0 ? undefined : `[${this.#citations.join(',')}]`],
        ])
      case 'thinking':
        return this.#with([
          ['thinking', quote(this.#text)],
          ['signature', quote(this.#signature)],
        ])
      case 'call':
      case 'server-call':
        return this.#with([['input', inputOf(this.#args)]])
      default:
        return this.#raw
    }
  }

  /** The block as a part of its message. */
  get part(): Part {
    if (this.#kind === 'text' && !this.isCited && !hasFurther(this.#block, PLAIN))
      return { type: 'text', text: this.#text }
    const { json } = this
    const read = readBlock(parseObject(json)!, json, '')
    return typeof read === 'string' || 'wrong' in read ? { type: 'data', json, ext: toExt('{}')! } : read
  }

  /** True for a block of text. */
  get isText(): boolean {
    return this.#kind === 'text'
  }

  /** True for a text with sources. */
  get isCited(): boolean {
    return this.#citations.length > 0
  }

  /** The number of characters of its text, or none. */
  get length(): number {
    return this.#kind === 'text' ? characters(this.#text) : 0
  }

  /** True for a block that is more than text, which the end of its message repeats. */
  get composed(): boolean {
    return this.isCited || (this.#kind === 'thinking' ? this.#signature !== '' : this.#kind !== 'text')
  }

  get #tool(): Id | undefined {
    return this.#kind === 'call' || this.#kind === 'server-call' ? this.#block.id! : undefined
  }

  #begin(): void {
    const { text, thinking, signature, name } = this.#block
    const { emitter, id: message } = this.#message
    if (this.#kind === 'text' && text) this.#say(text)
    if (this.#kind === 'thinking' && thinking) this.#think(thinking)
    this.#signature = signature ?? ''
    const tool = this.#tool
    const executor = this.call?.executor ?? 'provider'
    if (tool !== undefined) emitter.emit({ type: 'tool-start', tool, message, name: name!, executor })
  }

  #say(text: string): void {
    const { emitter, id: message } = this.#message
    this.#text += text
    emitter.ports.emit({ type: 'text-delta', turn: emitter.turn, message, text })
  }

  #think(text: string): void {
    const { emitter, id: message } = this.#message
    this.#text += text
    emitter.ports.emit({ type: 'reasoning-delta', turn: emitter.turn, message, text })
  }

  #argue(tool: Id, text: string): void {
    if (text === '') return
    this.#text += text
    this.#message.emitter.emit({ type: 'tool-args-delta', tool, text })
  }

  #other(event: JsonText): void {
    const citation = this.#kind === 'text' ? member(member(event, 'delta')!, 'citation') : undefined
    if (citation !== undefined && readCitation(citation)) this.#citations.push(citation)
    else this.#message.emitter.emit({ type: 'foreign', protocol: PROTOCOL, frame: event })
  }

  /** The arguments of a call: its pieces, or what it began with where there are none. */
  get #args(): JsonText {
    return this.#text === '' ? (member(this.#raw, 'input') ?? '{}') : this.#text
  }

  #with(entries: readonly (readonly [string, JsonText | undefined])[]): JsonText {
    const replaced = new Set(entries.flatMap(([key, json]) => (json === undefined ? [] : key)))
    return object([...members(this.#raw).filter(([key]) => !replaced.has(key)), ...entries])
  }
}

function kindOf({ type, id, name }: WireBlock): Kind {
  if (type === 'text' || type === 'thinking') return type
  if (id == null || name == null) return 'fixed'
  if (type === 'tool_use') return 'call'
  return type.endsWith('_tool_use') ? 'server-call' : 'fixed'
}
