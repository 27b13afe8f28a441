import {
  type Id,
  type JsonText,
  type Part,
  quote,
  type TurnEvent,
  type TurnView,
  type Usage,
} from '../../../src/model/index.ts'
import type { Lines } from './lines.ts'

type Event<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

/** A run of words that is not closed yet. */
interface Run {
  category: 'text' | 'thinking'
  message: Id
  /** The index where it begins in the text or the thoughts of its message. */
  from: number
  id: string
}

/**
 * Writes what the main lane says: one `assistant` line per run of thought, of text, and per tool call; with partial
 * messages also the pieces. All that stands between two results of tools is one answer, with one `message_start`.
 */
export class AnswerWriter {
  readonly #lines: Lines
  readonly #partial: boolean
  readonly #model: () => string
  readonly #called = new Set<Id>()
  #run: Run | undefined
  /** The number of the block among those of its line; the wire counts them from zero in each category. */
  #index = 0
  #toolsInRow = 0
  #inAnswer = false
  /** True once `message_start` was written for the answer. */
  #announced = false
  #usage: Usage | undefined
  /** The message whose thoughts were shown in pieces. */
  #thought: Id | undefined
  /** The number of answers of the model: the wire's `num_turns`. */
  answers = 0

  constructor(lines: Lines, partial: boolean, model: () => string) {
    this.#lines = lines
    this.#partial = partial
    this.#model = model
  }

  /** A piece of text or thought. */
  delta(event: Event<'text-delta' | 'reasoning-delta'>, view: TurnView, extra: JsonText | undefined): void {
    const category = event.type === 'text-delta' ? 'text' : 'thinking'
    const run = this.#run
    if (run?.message !== event.message || run.category !== category)
      this.#open(category, event.message, event.text, view)
    if (!this.#partial) return
    if (category === 'text' && extra === undefined) this.#lines.textDelta(this.#index, event.text)
    else {
      const delta = deltaOf(category, event.text)
      this.#lines.event(`{"type":"content_block_delta","index":${this.#index},"delta":${delta}}`, extra)
    }
  }

  /** The message is complete; one that was not shown in pieces is written from its parts. */
  endMessage(event: Event<'message-end'>, view: TurnView, extra: JsonText | undefined): void {
    const message = view.message(event.message)
    const open = this.#run?.category === 'text' && this.#run.message === event.message
    if (event.revised && open) this.#run!.from = 0
    this.#close(view, extra)
    // What was said before is a line already: the other text that it has now is one of its own.
    if (event.revised && !open && message?.text) {
      this.#whole('text', message.text, textBlock(message.text), event.message, undefined)
    }
    // Its text was shown in pieces; what else it holds was not.
    const rest = message?.streamed === true ? event.parts?.filter(({ type }) => type !== 'text') : event.parts
    for (const part of rest ?? []) this.#part(part, event.message, extra)
  }

  /** The tokens of the model call whose last line comes next. */
  count(usage: Usage): void {
    this.#usage = usage
  }

  /** A tool call, whole: this wire never shows pieces of arguments. */
  call(tool: Id, name: string, input: JsonText, view: TurnView, extra?: JsonText): void {
    this.#close(view)
    this.#called.add(tool)
    const id = this.#begin(tool)
    this.#index = this.#toolsInRow
    this.#toolsInRow += 1
    const head = `"type":"tool_use","id":${quote(tool)},"name":${quote(name)}`
    if (this.#partial) {
      this.#lines.event(`{"type":"content_block_start","index":${this.#index},"content_block":{${head},"input":{}}}`)
      const delta = `{"type":"input_json_delta","partial_json":${quote(input)}}`
      this.#lines.event(`{"type":"content_block_delta","index":${this.#index},"delta":${delta}}`)
      this.#lines.event(`{"type":"content_block_stop","index":${this.#index}}`)
    }
    this.#line([`{${head},"input":${input}}`], 'tool_use', id, extra)
  }

  /** True when the call was written. */
  isCalled(tool: Id): boolean {
    return this.#called.has(tool)
  }

  /** The answer of the model is over. */
  end(view: TurnView): void {
    this.#close(view)
    if (this.#announced) this.#lines.event('{"type":"message_stop"}')
    this.#inAnswer = false
    this.#announced = false
    this.#usage = undefined
  }

  /** Takes back the last message. */
  drop(): void {
    if (this.#run && this.#partial) this.#lines.event(`{"type":"content_block_stop","index":${this.#index}}`)
    this.#run = undefined
  }

  #open(category: Run['category'], message: Id, first: string, view: TurnView): void {
    this.#close(view)
    const id = this.#begin(message)
    this.#index = 0
    this.#toolsInRow = 0
    if (category === 'thinking') this.#thought = message
    const { text, reasoning } = view.message(message)!
    this.#run = { category, message, from: (category === 'text' ? text : reasoning).length - first.length, id }
    if (this.#partial) this.#startBlock(category)
  }

  #close(view: TurnView, extra?: JsonText): void {
    const run = this.#run
    if (!run) return
    this.#run = undefined
    if (this.#partial) this.#lines.event(`{"type":"content_block_stop","index":${this.#index}}`)
    const { text, reasoning } = view.message(run.message)!
    const words = (run.category === 'text' ? text : reasoning).slice(run.from)
    this.#line([run.category === 'text' ? textBlock(words) : thinkingBlock(words, '')], null, run.id, extra)
  }

  #part(part: Part, message: Id, extra: JsonText | undefined): void {
    if (part.type === 'text') {
      if (part.text !== '') this.#whole('text', part.text, textBlock(part.text), message, extra)
    } else if (part.type === 'reasoning') {
      if (this.#thought === message) return
      this.#whole('thinking', part.text, thinkingBlock(part.text, part.seal?.data ?? ''), message, extra)
    } else this.#lines.drop(`part.${part.type}`)
  }

  /** Words that came at once: a client that shows pieces gets them in one. */
  #whole(category: Run['category'], words: string, block: JsonText, message: Id, extra: JsonText | undefined): void {
    const id = this.#begin(message)
    this.#toolsInRow = 0
    if (this.#partial) {
      this.#startBlock(category)
      this.#lines.event(`{"type":"content_block_delta","index":0,"delta":${deltaOf(category, words)}}`)
      this.#lines.event('{"type":"content_block_stop","index":0}')
    }
    this.#line([block], null, id, extra)
  }

  #startBlock(category: Run['category']): void {
    this.#index = 0
    const block = category === 'text' ? '{"type":"text","text":""}' : '{"type":"thinking","thinking":"","signature":""}'
    this.#lines.event(`{"type":"content_block_start","index":0,"content_block":${block}}`)
  }

  /** The id of the next line; the first one of an answer announces it. */
  #begin(source: Id): string {
    if (!this.#inAnswer) {
      this.#inAnswer = true
      this.#toolsInRow = 0
      this.answers += 1
      const id = this.#lines.ids.of(source)
      if (!this.#partial) return id
      this.#announced = true
      const message = `{"id":${quote(id)},"role":"assistant","model":${quote(this.#model())},"content":[]}`
      this.#lines.event(`{"type":"message_start","message":${message}}`)
      return id
    }
    return this.#lines.ids.next()
  }

  #line(blocks: JsonText[], stop: 'tool_use' | null, id: string, extra: JsonText | undefined): void {
    this.#lines.assistant(blocks, stop, { id, model: this.#model(), lane: undefined, usage: this.#usage, extra })
    this.#usage = undefined
  }
}

function deltaOf(category: Run['category'], words: string): JsonText {
  return category === 'text'
    ? `{"type":"text_delta","text":${quote(words)}}`
    : `{"type":"thinking_delta","thinking":${quote(words)}}`
}

/** A block of text. */
export function textBlock(text: string): JsonText {
  return `{"type":"text","text":${quote(text)}}`
}

/** A block of thought. */
export function thinkingBlock(text: string, signature: string): JsonText {
  return `{"type":"thinking","thinking":${quote(text)},"signature":${quote(signature)}}`
}
