import { type Entry, isAnswer } from '../../../../src/codec-kit/index.ts'
import type { EventOf, Id, JsonText, Seal, TurnView } from '../../../../src/model/index.ts'
import { members, object, quote, textOf } from '../../../../src/model/index.ts'
import { itemId, type ResponseRef } from '../ids.ts'
import { encryptedOf } from '../seals.ts'
import type { Output } from './output.ts'

type Phase = EventOf<'message-start'>['phase']

/** The item that text or reasoning goes to. */
interface Open {
  kind: 'output_text' | 'refusal' | 'reasoning'
  message: Id
  phase: Phase
  at: number
  /** The members that say where a piece of it belongs. */
  of: JsonText
  text: string
}

/** The agent's text and reasoning, as items: one at a time is open, because clients look for the end of the last one. */
export class SpeechItems {
  readonly #ref: ResponseRef
  readonly #output: Output
  /** The phases of the messages that began in this response. */
  readonly #phases = new Map<Id, Phase>()
  /** Seals that were shown: the end of a message repeats them. */
  readonly #sealed = new Set<string>()
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
    this.#output.delta(`response.${kind}.delta`, open.of, text)
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
      this.#output.done(this.#output.begin(this.#reasoning(at, '')), this.#reasoning(at, '', seal))
    }
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
    if (!known.streamed && parts) this.text(message, textOf(parts), view)
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
  #openFor(message: Id, kind: Open['kind'], phase: Phase): Open {
    const open = this.#open
    if (open?.message === message && open.kind === kind) return open
    this.close()
    const at = this.#output.length
    const prefix = kind === 'reasoning' ? 'rs' : 'msg'
    const place = kind === 'reasoning' ? 'summary_index' : 'content_index'
    const of = `"item_id":${quote(itemId(prefix, this.#ref, at))},"output_index":${at},"${place}":0`
    const begun: Open = { kind, message, phase, at, of, text: '' }
    this.#open = begun
    this.#output.begin(kind === 'reasoning' ? this.#reasoning(at) : this.#message(begun, 'in_progress'))
    this.#part(begun, 'added')
    return begun
  }

  #endReasoning(open: Open, seal: Seal | undefined): void {
    this.#said(open, 'response.reasoning_summary_text.done', 'text')
    this.#part(open, 'done')
    this.#output.done(open.at, this.#reasoning(open.at, open.text, seal))
  }

  #endMessage(open: Open): void {
    this.#said(open, `response.${open.kind}.done`, open.kind === 'refusal' ? 'refusal' : 'text')
    this.#part(open, 'done')
    this.#output.done(open.at, this.#message(open, 'completed'))
  }

  #said({ of, text }: Open, type: string, member: 'text' | 'refusal'): void {
    this.#output.event(type, [...entriesOf(of), [member, quote(text)]])
  }

  #part(open: Open, what: 'added' | 'done'): void {
    const name = open.kind === 'reasoning' ? 'reasoning_summary_part' : 'content_part'
    this.#output.event(`response.${name}.${what}`, [...entriesOf(open.of), ['part', partOf(open)]])
  }

  #message(open: Open, status: 'in_progress' | 'completed'): JsonText {
    const phase = open.phase === 'commentary' ? '"commentary"' : open.phase === 'final' ? '"final_answer"' : undefined
    return object([
      ['id', quote(itemId('msg', this.#ref, open.at))],
      ['type', '"message"'],
      ['status', quote(status)],
      ['role', '"assistant"'],
      ['content', status === 'in_progress' ? '[]' : `[${partOf(open)}]`],
      ['phase', phase],
    ])
  }

  #reasoning(at: number, text = '', seal?: Seal): JsonText {
    return object([
      ['id', quote(itemId('rs', this.#ref, at))],
      ['type', '"reasoning"'],
      ['summary', text === '' ? '[]' : `[{"type":"summary_text","text":${quote(text)}}]`],
      ['encrypted_content', seal && quote(encryptedOf(seal))],
    ])
  }
}

/** The content of an item so far. */
function partOf({ kind, text }: Open): JsonText {
  if (kind === 'refusal') return `{"type":"refusal","refusal":${quote(text)}}`
  if (kind === 'reasoning') return `{"type":"summary_text","text":${quote(text)}}`
  return `{"type":"output_text","text":${quote(text)},"annotations":[],"logprobs":[]}`
}

/** Members that were written for a piece, one by one. */
function entriesOf(of: JsonText): Entry[] {
  return members(`{${of}}`)
}
