import { characters, dropped, type ModelCall, placedCitation, unparsed } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import {
  type Citation,
  elements,
  type Id,
  type JsonText,
  member,
  type Part,
  type Seal,
  TextRun,
} from '../../../../src/model/index.ts'
import { readAnnotation, readAnnotations } from '../../annotations.ts'
import { sealOf } from '../seals.ts'
import type { Item, ServerEvent } from './events.ts'

type Phase = 'commentary' | 'refusal'

/** The message that is open. */
interface Open {
  id: Id
  phase: Phase | undefined
  /** The output item that its text is of; undefined as long as it has none. */
  at: number | undefined
  text: string
  /** The places in the text where the parts of the item's content begin. */
  places: number[]
  citations: Citation[]
  /** Blocks of reasoning that are complete, and the text of the one that is not. */
  blocks: Part[]
  reasoning: string
}

/**
 * The text and reasoning of one answer of the model, as messages of the turn: reasoning belongs to the text after it.
 */
export class Speech {
  readonly #turn: Id
  readonly #ports: BackPorts
  /** Items whose text or reasoning came in pieces. */
  readonly #streamed = new Set<number>()
  /** Phases of items that were announced. */
  readonly #phases = new Map<number, Phase>()
  #current: Open | undefined
  /** The part of a summary that the last piece of reasoning was of. */
  #summary = 0

  constructor(turn: Id, ports: BackPorts) {
    this.#turn = turn
    this.#ports = ports
  }

  /** A message begins at this place of the output. */
  item(at: number, phase: string | null | undefined): void {
    if (phase === 'commentary') this.#phases.set(at, phase)
  }

  /** A piece of text. */
  text({ at, part, delta: text }: Pick<ServerEvent, 'at' | 'part' | 'delta'>): void {
    if (text === '') return
    this.#streamed.add(at)
    this.#say(at, text, this.#phases.get(at), part)
  }

  /** Pieces of text of one part of an item, none of which is empty. */
  texts({ at, part }: Pick<ServerEvent, 'at' | 'part'>, texts: string[]): TextRun | undefined {
    if (texts.length === 0) return undefined
    this.#streamed.add(at)
    const message = this.#add(at, this.#phases.get(at), part)
    const run = TextRun.from(this.#turn, message.id, texts)
    message.text += run.text
    return run
  }

  /** A source of the text of an item. */
  cite({ at, part, json }: Pick<ServerEvent, 'at' | 'part' | 'json'>): void {
    this.#cite(at, part, readAnnotation(member(json, 'annotation') ?? 'null'))
  }

  /** A piece of a refusal. */
  refuse(at: number, text: string): void {
    if (text === '') return
    this.#streamed.add(at)
    this.#say(at, text, 'refusal')
  }

  /** A piece of reasoning; a further part of a summary is a paragraph of its own. */
  think({ at, delta: text, summary }: Pick<ServerEvent, 'at' | 'delta' | 'summary'>): void {
    if (text === '') return
    const first = !this.#streamed.has(at)
    this.#streamed.add(at)
    if (!first && summary > this.#summary) this.#reason('\n\n')
    this.#summary = summary
    this.#reason(text)
  }

  /** A message is complete. Text that did not come in pieces is emitted now. */
  message(at: number, { content, phase }: Item, json: JsonText): void {
    this.item(at, phase)
    const isNew = !this.#streamed.has(at)
    const isCited = this.#current?.at === at && this.#current.citations.length > 0
    for (const [part, { text, refusal, annotations }] of (content ?? []).entries()) {
      if (isNew && text) this.#say(at, text, this.#phases.get(at), part)
      else if (isNew && refusal) this.#say(at, refusal, 'refusal')
      // Servers that stream may leave out their events.
      if (isCited || annotations == null) continue
      for (const citation of citationsIn(json, part, annotations)) this.#cite(at, part, citation)
    }
  }

  /** A block of reasoning is complete. */
  reasoned(at: number, { summary, content, encrypted_content: encrypted }: Item): void {
    if (!this.#streamed.has(at)) {
      const text = [...(summary ?? []), ...(content ?? [])].flatMap((part) => part.text ?? []).join('\n\n')
      if (text !== '') this.#reason(text)
    }
    const seal: Seal | undefined = encrypted ? sealOf(encrypted) : undefined
    const message = this.open()
    const current = this.#current!
    current.blocks.push({ type: 'reasoning', text: current.reasoning, ...(seal && { seal }) })
    current.reasoning = ''
    this.#ports.emit({ type: 'reasoning-end', turn: this.#turn, message, ...(seal && { seal }) })
  }

  /** The message that is open, or a new one. */
  open(): Id {
    return (this.#current ?? this.#begin(undefined)).id
  }

  /** The answer is complete: the open message ends, with the calls that were made in it. */
  end(calls: readonly ModelCall[]): void {
    this.#close(calls.map(({ tool, name, args }): Part => ({ type: 'tool-call', tool, name, args })))
  }

  #say(at: number, text: string, phase: Phase | undefined, part = 0): void {
    const message = this.#add(at, phase, part)
    message.text += text
    this.#ports.emit({ type: 'text-delta', turn: this.#turn, message: message.id, text })
  }

  /** The message that text of a part of an item is added to. */
  #add(at: number, phase: Phase | undefined, part: number): Open {
    const message = this.#messageFor(at, phase)
    message.at = at
    message.places[part] ??= message.text.length
    return message
  }

  /** The place of a source is in its part of the content; in the message, other parts are before that. */
  #cite(at: number, part: number, citation: Citation | undefined): void {
    const message = this.#current
    if (!citation || message?.at !== at) {
      this.#ports.report(citation ? dropped('citation') : unparsed('citation'), this.#turn)
      return
    }
    const { text, places } = message
    const begin = places[part] ?? 0
    const placed = placedCitation(citation, text.slice(begin, places[part + 1]), characters(text.slice(0, begin)))
    message.citations.push(placed)
    this.#ports.emit({ type: 'citation', turn: this.#turn, message: message.id, ...placed })
  }

  #reason(text: string): void {
    const current = this.#current && this.#current.at === undefined ? this.#current : this.#begin(undefined)
    current.reasoning += text
    this.#ports.emit({ type: 'reasoning-delta', turn: this.#turn, message: current.id, text })
  }

  /** The message that text of this item continues. */
  #messageFor(at: number, phase: Phase | undefined): Open {
    const current = this.#current
    if (current && (current.at ?? at) === at && current.phase === phase) return current
    return this.#begin(phase)
  }

  #begin(phase: Phase | undefined): Open {
    this.#close([])
    const text = { text: '', places: [], citations: [] }
    const current: Open = { id: this.#ports.newId(), phase, at: undefined, ...text, blocks: [], reasoning: '' }
    this.#current = current
    const { id: message } = current
    this.#ports.emit({ type: 'message-start', turn: this.#turn, message, role: 'assistant', ...(phase && { phase }) })
    return current
  }

  /** A message with seals or calls ends with all of its parts, as the next request must have them. */
  #close(calls: readonly Part[]): void {
    const current = this.#current
    if (!current) return
    this.#current = undefined
    const { id: message, text, citations, blocks, reasoning } = current
    const thoughts: Part[] = reasoning === '' ? blocks : [...blocks, { type: 'reasoning', text: reasoning }]
    const sealed = blocks.some((part) => part.type === 'reasoning' && part.seal)
    const said: Part = { type: 'text', text, ...(citations.length > 0 && { citations }) }
    const parts: Part[] = [...thoughts, ...(text === '' ? [] : [said]), ...calls]
    const whole = sealed || calls.length + citations.length > 0
    this.#ports.emit({ type: 'message-end', turn: this.#turn, message, ...(whole && { parts }) })
  }
}

/** The sources of a part of a message's content; a list that is none is one that cannot be read. */
function citationsIn(json: JsonText, part: number, annotations: unknown): readonly (Citation | undefined)[] {
  if (Array.isArray(annotations) && annotations.length === 0) return []
  return readAnnotations(member(elements(member(json, 'content')!)[part]!, 'annotations')) ?? [undefined]
}
