import { citationAtEnd, citationsOf, isAnswer } from '../../../../src/codec-kit/index.ts'
import type { Citation, EventOf, Id, JsonText, Seal, TextRun, TurnView } from '../../../../src/model/index.ts'
import { quote } from '../../../../src/model/index.ts'
import { annotationJson } from '../../annotations.ts'
import { itemId, type ResponseRef } from '../ids.ts'
import type { Output } from './output.ts'
import { messageJson, partJson, reasoningJson, type SpeechItem } from './speech-json.ts'

/** The item that is open: a message, or reasoning. */
interface Open extends SpeechItem {
  message: Id
  /** The members that say where a piece of it belongs. */
  of: JsonText
}

/** The agent's text and reasoning, as items: one at a time is open, because clients look for the end of the last one. */
export class SpeechItems {
  readonly #ref: ResponseRef
  readonly #output: Output
  /** The phases of the messages that began in this response. */
  readonly #phases = new Map<Id, SpeechItem['phase']>()
  /** Seals that were shown: the end of a message repeats them. */
  readonly #sealed = new Set<string>()
  /** The messages whose sources were shown: the end of a message repeats them. */
  readonly #cited = new Set<Id>()
  #open: Open | undefined

  constructor(ref: ResponseRef, output: Output) {
    this.#ref = ref
    this.#output = output
  }

  /** A message begins. */
  start({ message, phase }: EventOf<'message-start'>): void {
    this.#phases.set(message, phase)
  }

  /** A piece of text. */
  text(message: Id, text: string, view: TurnView): void {
    const known = view.message(message)
    if (text === '' || !isAnswer(known)) return
    const phase = this.#phases.get(message)
    const kind = known.refuses ? 'refusal' : 'output_text'
    const open = this.#openFor(message, kind, phase)
    open.text += text
    this.#output.delta(kind === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta', open.of, text)
  }

  /** Pieces of the text of a message. */
  texts(run: TextRun, view: TurnView): void {
    const { message } = run
    const known = view.message(message)
    if (!isAnswer(known)) return
    const kind = known.refuses ? 'refusal' : 'output_text'
    const open = this.#openFor(message, kind, this.#phases.get(message))
    open.text += run.text
    this.#output.deltas(kind === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta', open.of, run)
  }

  /** A piece of reasoning. */
  think(message: Id, text: string, view: TurnView): void {
    if (text === '' || !isAnswer(view.message(message))) return
    const open = this.#openFor(message, 'reasoning', undefined)
    open.text += text
    this.#output.delta('response.reasoning_summary_text.delta', open.of, text)
  }

  /** A block of reasoning is complete. Of hidden reasoning only the seal is known. */
  thought(message: Id, seal: Seal | undefined, view: TurnView): void {
    if (!isAnswer(view.message(message))) return
    if (seal) this.#sealed.add(seal.data)
    if (this.#open?.kind === 'reasoning') this.close(seal)
    else if (seal) {
      this.close()
      const at = this.#output.length
      this.#output.begin(() => reasoningJson(this.#ref, at))
      this.#output.done(at, reasoningJson(this.#ref, at, '', seal))
    }
  }

  /** A source of the text of a message, which may have begun in an earlier item. */
  cite(message: Id, citation: Citation, view: TurnView): void {
    const open = this.#open
    const known = view.message(message)
    this.#cited.add(message)
    if (!known || open?.message !== message || open.kind !== 'output_text') return
    const json = annotationJson(citationAtEnd(citation, known.text, open.text), 'response')
    if (json === undefined) return
    const at = open.annotations.push(json) - 1
    this.#output.event(
      'response.output_text.annotation.added',
      () => `${open.of},"annotation_index":${at},"annotation":${json}`,
    )
  }

  /** A message ends. Text and reasoning that came only with its end are written now. */
  end({ message, parts }: EventOf<'message-end'>, view: TurnView): void {
    const known = view.message(message)
    if (!isAnswer(known)) return
    for (const part of parts ?? []) {
      if (part.type !== 'reasoning') continue
      if (known.thought !== true) this.think(message, part.text, view)
      if (part.seal && !this.#sealed.has(part.seal.data)) this.thought(message, part.seal, view)
    }
    if (!known.streamed && parts) this.text(message, known.text, view)
    // Sources may come with the end alone.
    if (!this.#cited.has(message)) for (const citation of citationsOf(parts)) this.cite(message, citation, view)
    if (this.#open?.message === message) this.close()
  }

  /** The open item is complete: another one begins, or the response ends. */
  close(seal?: Seal): void {
    const open = this.#open
    if (!open) return
    this.#open = undefined
    if (open.kind === 'reasoning') this.#endReasoning(open, seal)
    else this.#endMessage(open)
  }

  /** A message may have begun in an earlier response of its turn. */
  #openFor(message: Id, kind: Open['kind'], phase: SpeechItem['phase']): Open {
    const open = this.#open
    if (open?.message === message && open.kind === kind) return open
    this.close()
    const at = this.#output.length
    const prefix = kind === 'reasoning' ? 'rs' : 'msg'
    const place = kind === 'reasoning' ? 'summary_index' : 'content_index'
    const of = `"item_id":${quote(itemId(prefix, this.#ref, at))},"output_index":${at},"${place}":0`
    const begun: Open = { kind, message, phase, at, of, text: '', annotations: [] }
    this.#open = begun
    this.#output.begin(() =>
      kind === 'reasoning' ? reasoningJson(this.#ref, at) : messageJson(this.#ref, begun, 'in_progress'),
    )
    this.#part(begun, 'added')
    return begun
  }

  #endReasoning(open: Open, seal: Seal | undefined): void {
    this.#said(open, 'response.reasoning_summary_text.done', 'text')
    this.#part(open, 'done')
    this.#output.done(open.at, reasoningJson(this.#ref, open.at, open.text, seal))
  }

  #endMessage(open: Open): void {
    this.#said(open, `response.${open.kind}.done`, open.kind === 'refusal' ? 'refusal' : 'text')
    this.#part(open, 'done')
    this.#output.done(open.at, messageJson(this.#ref, open, 'completed'))
  }

  #said({ of, text }: Open, type: string, member: 'text' | 'refusal'): void {
    this.#output.event(type, () => `${of},"${member}":${quote(text)}`)
  }

  #part(open: Open, what: 'added' | 'done'): void {
    const name = open.kind === 'reasoning' ? 'reasoning_summary_part' : 'content_part'
    this.#output.event(`response.${name}.${what}`, () => `${open.of},"part":${partJson(open)}`)
  }
}
