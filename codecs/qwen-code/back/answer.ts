import type { TurnEmitter } from '../../../src/codec-kit/index.ts'
import type { Ext, Id, Part } from '../../../src/model/index.ts'
import { PROTOCOL } from '../wire.ts'
import { API_ERROR, isErrorText, mayBeErrorText } from './errors.ts'

/** A block of a whole `assistant` line that is text or thought. */
export type Words = { type: 'text'; text: string } | { type: 'thinking'; thinking: string; signature: string }

/**
 * The messages of one lane: what the model says, in pieces (`stream_event`) or in whole lines (`assistant`).
 *
 * One answer of the model is one message while it streams, whatever number of `assistant` lines repeat it; text behind a
 * tool call is a message of its own. The text of an error that the CLI puts behind the answer is held back until the
 * result has said whether it is one.
 */
export class Answer {
  readonly out: TurnEmitter
  /** Messages that a retry takes back. */
  #current: Id[] = []
  /** The wire's id of the answer that streams, for its first message. */
  #announced: string | undefined
  /** `over`: the next line begins another answer. */
  #phase: 'over' | 'streaming' | 'whole' = 'over'
  /** The first half of a character whose second half is still to come. */
  #half = ''
  /** Text that looks like the error of a failed model call. */
  #held = ''
  /** The message is to be closed once the held text is judged. */
  #closing = false
  #ext: Ext | undefined
  readonly #used = new Set<Id>()
  /** The answer in which text was passed on that is not taken back: an earlier one, or the current one. */
  #spoke: 'earlier' | 'now' | undefined

  constructor(out: TurnEmitter) {
    this.out = out
  }

  /** True once any text was passed on that is not taken back. */
  get spoke(): boolean {
    return this.#spoke !== undefined
  }

  /** The end of the answer so far, which may be the error of a failed model call. */
  get held(): string {
    return this.#held
  }

  /** `message_start`: an answer begins; its deltas follow. */
  start(id: string | undefined): void {
    this.between()
    this.#begin()
    this.#announced = id
    this.#phase = 'streaming'
  }

  /** `text_delta`. */
  text(piece: string, ext?: Ext): void {
    if (this.#held !== '' && !this.#closing && ext === undefined && mayBeErrorText(this.#held + piece)) {
      this.#held += piece
      return
    }
    if (this.#held !== '' || this.#closing) this.settle()
    const text = this.#half + piece
    const error = errorAt(text)
    if (error >= 0) {
      this.#half = ''
      if (error > 0) this.#say(text.slice(0, error), ext)
      this.#held = text.slice(error)
      return
    }
    const whole = endsInHalf(text) ? text.slice(0, -1) : text
    this.#half = text.slice(whole.length)
    if (whole !== '') this.#say(whole, ext)
  }

  /** `thinking_delta`. */
  thinking(text: string, ext?: Ext): void {
    this.settle()
    if (text !== '') this.out.emit({ type: 'reasoning-delta', message: this.#open(), text }, ext)
  }

  /** `content_block_stop`: half a character stays half. */
  blockStop(): void {
    const half = this.#half
    this.#half = ''
    if (half !== '') this.#say(half)
  }

  /** `message_stop`: the answer is complete. A retry may still take it back. */
  stop(): void {
    this.#phase = 'over'
    this.#finish()
  }

  /** A tool call: text after it is another message. */
  tool(): void {
    this.settle()
    this.#close()
    this.#begin()
  }

  /**
   * The text of an `assistant` line; nothing new while its answer streams. `ext` has the unknown members of the line.
   */
  whole(id: string | undefined, words: readonly Words[], ext?: Ext): void {
    if (this.#phase === 'streaming') {
      this.#ext ??= ext
      return
    }
    this.settle()
    this.#begin()
    this.#announced = id
    const last = words.at(-1)
    const error = last?.type === 'text' ? last.text.lastIndexOf(API_ERROR) : -1
    if (last?.type === 'text' && error >= 0 && isErrorText(last.text.slice(error))) {
      this.#ext = ext
      for (const word of words.slice(0, -1)) this.#pieces(word)
      if (error > 0) this.#say(last.text.slice(0, error))
      this.#held = last.text.slice(error)
      this.#finish()
      return
    }
    if (words.some((word) => word.type === 'text' && word.text !== '')) this.#spoke ??= 'now'
    this.#open()
    this.out.closeMessage(words.map(partOf), ext)
  }

  /** A line that stands between two answers. */
  between(): void {
    this.settle()
    this.#close()
    this.#phase = 'over'
  }

  /** `system` / `retry`: takes the current answer back, or lets its text go on. */
  retry(keepText: boolean): void {
    if (keepText) {
      this.settle()
      const { message } = this.out
      if (message !== undefined) this.out.emit({ type: 'message-retract', message, keepText })
      return
    }
    this.#half = ''
    this.settle(true)
    for (const message of this.#current) this.out.emit({ type: 'message-retract', message, keepText })
    this.#close()
    this.#current = []
    this.#phase = 'over'
    if (this.#spoke === 'now') this.#spoke = undefined
  }

  /** The held text is part of the answer after all; `failed`: it is the turn's error, which its end shows. */
  settle(failed = false): void {
    const held = this.#held
    this.#held = ''
    if (held !== '' && !failed) this.#say(held)
    if (!this.#closing) return
    this.#closing = false
    this.#close()
  }

  /** The turn ends. */
  end(failed: boolean): void {
    this.blockStop()
    this.settle(failed)
    this.#close()
  }

  /** Another answer begins with this line, unless it continues the last one. */
  #begin(): void {
    if (this.#phase !== 'over') return
    this.#phase = 'whole'
    this.#current = []
    if (this.#spoke) this.#spoke = 'earlier'
  }

  #pieces(word: Words): void {
    if (word.type === 'text') this.#say(word.text)
    else this.out.emit({ type: 'reasoning-delta', message: this.#open(), text: word.thinking })
  }

  #say(text: string, ext?: Ext): void {
    this.#open()
    this.#spoke ??= 'now'
    this.out.text(text, ext)
  }

  #open(): Id {
    if (this.out.message !== undefined) return this.out.message
    const said = this.#announced
    const isFree = said !== undefined && said !== '' && !this.#used.has(said)
    const message = this.out.openMessage(undefined, undefined, isFree ? said : undefined)
    this.#used.add(message)
    this.#current.push(message)
    return message
  }

  #finish(): void {
    this.blockStop()
    if (this.#held !== '') this.#closing = true
    else this.#close()
  }

  #close(): void {
    this.out.closeMessage(undefined, this.#ext)
    this.#ext = undefined
  }
}

/** The index where the error of a failed model call may begin in a piece of an answer; negative when there is none. */
function errorAt(piece: string): number {
  const whole = piece.indexOf(API_ERROR)
  const at = whole >= 0 ? whole : piece.lastIndexOf('[')
  return at >= 0 && mayBeErrorText(piece.slice(at)) ? at : -1
}

/** True when the text ends with the first half of a character of two UTF-16 units. */
function endsInHalf(text: string): boolean {
  const code = text.charCodeAt(text.length - 1)
  return code >= 0xd800 && code <= 0xdbff
}

function partOf(word: Words): Part {
  if (word.type === 'text') return { type: 'text', text: word.text }
  const seal = word.signature === '' ? {} : { seal: { provider: PROTOCOL, data: word.signature } }
  return { type: 'reasoning', text: word.thinking, ...seal }
}
