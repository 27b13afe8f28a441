import { member } from '../../../../src/model/index.ts'
import { capOf } from '../../cap.ts'
import { TypedReply } from '../../typed-reply.ts'
import { unpadded } from '../../v04/schema.ts'
import { type AgentLine03, type ReadLine03, readLine } from '../schema.ts'

type Of<T extends AgentLine03['type']> = Extract<AgentLine03, { type: T }>

/**
 * Reads one run of an agent of wire 0.3. Its body is all `text` events together. Agents write there the whole reply
 * again, its last partial, or what their partials did not say: only the last is a message of its own.
 */
export class Reply extends TypedReply<ReadLine03> {
  readonly version = '0.3'
  readonly #partials = capOf(this.options)
  readonly #bodyCap = capOf(this.options)
  #body = ''
  #bodies = 0

  get blank(): boolean {
    return this.shown.trim() === '' && this.#body.trim() === ''
  }

  protected read(line: string): ReadLine03 | undefined {
    return readLine(line)
  }

  protected take({ event, ext }: ReadLine03, line: string): void {
    if (event.type === 'partial') this.#partial(event, ext)
    else if (event.type === 'text') this.#text(event, ext)
    else if (event.type === 'session') this.#learn(event.id, ext)
    else if (event.type === 'error') this.#fail(event, ext, line)
    else this.permission(event, ext, line)
  }

  close(): void {
    const body = this.#body
    if (this.error !== undefined) this.#discard()
    if (this.error !== undefined || body === '') {
      this.out.closeMessage()
      return
    }
    if (this.shown !== '' && this.shown.trimEnd().endsWith(body.trimEnd())) this.endMessage(this.shown)
    else if (body.endsWith(this.shown)) this.endMessage(body, this.shown !== '')
    else {
      this.endMessage()
      this.endMessage(body)
    }
  }

  #partial(event: Of<'partial'>, ext: ReadLine03['ext']): void {
    if (event.role === 'thinking' || !this.options.streaming || this.error !== undefined) {
      this.partial(event, ext)
      return
    }
    const { text, suffix, cut } = this.#partials.take(event.text)
    if (cut) this.report('dropped', 'text-delta', 'max_reply_chars')
    this.partial({ ...event, text: text + suffix }, ext)
  }

  #text(event: Of<'text'>, ext: ReadLine03['ext']): void {
    if (this.error !== undefined) {
      this.report('dropped', 'message-end', 'text')
      return
    }
    const { text, suffix, cut } = this.#bodyCap.take(event.text)
    if (cut) this.report('dropped', 'message-end', 'max_reply_chars')
    this.#body += text + suffix
    this.ext = ext ?? this.ext
    this.#bodies += 1
  }

  /** The last error counts, as runners of this wire have it. */
  #fail({ message }: Of<'error'>, ext: ReadLine03['ext'], line: string): void {
    if (member(unpadded(line), 'usage') !== undefined) this.report('dropped', 'usage', 'usage')
    if (message === '') return
    if (this.error !== undefined) this.report('dropped', 'turn-end', 'error')
    this.error = message
    this.ext = ext
    this.host.failed()
  }

  /** The last valid id counts, also after an error. */
  #learn(id: string, ext: ReadLine03['ext']): void {
    if (ext) this.report('dropped', 'ext', 'session')
    if (this.isSession(id)) this.session = id
  }

  /** A failed turn has no body. */
  #discard(): void {
    while (this.#bodies > 0) {
      this.report('dropped', 'message-end', 'text')
      this.#bodies -= 1
    }
  }
}
