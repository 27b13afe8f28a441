import { DeltaShape } from '../../../../src/codec-kit/index.ts'
import type { WireText } from '../../../../src/contract/index.ts'
import { member, type TextRun } from '../../../../src/model/index.ts'
import { TypedReply } from '../../typed-reply.ts'
import { type AgentLine, type ReadLine, readLine, unpadded } from '../schema.ts'
import { readUsage } from '../usage.ts'

type Of<T extends AgentLine['type']> = Extract<AgentLine, { type: T }>

/** A partial as it is nearly always written. */
const PARTIALS = new DeltaShape('{"type":"partial","text":"', '"}', undefined)

/** Reads one run of an agent of wire 0.4. Its result may repeat the text of the partials, or a part of it. */
export class Reply extends TypedReply<ReadLine> {
  readonly version = '0.4'
  #result: string | undefined
  #usageKnown = false

  override get answered(): boolean {
    return this.#result !== undefined
  }

  get blank(): boolean {
    return this.shown.trim() === '' && (this.#result ?? '').trim() === ''
  }

  protected read(line: string): ReadLine | undefined {
    return readLine(line)
  }

  protected take({ event, ext }: ReadLine, line: string): void {
    if (event.session_id) this.#learn(event.session_id)
    if (event.type === 'partial') this.partial(event, ext)
    else if (event.type === 'result') this.#answer(event, ext, line)
    else if (event.type === 'error') this.#fail(event, ext, line)
    else this.permission(event, ext, line)
  }

  override texts(wire: WireText): TextRun | undefined {
    return this.partials(PARTIALS, wire)
  }

  close(): void {
    if (!this.#result) {
      this.out.closeMessage()
      return
    }
    const text = this.shown.endsWith(this.#result) ? this.shown : this.#result
    this.endMessage(text, text !== this.shown && this.shown !== '')
  }

  #answer(event: Of<'result'>, ext: ReadLine['ext'], line: string): void {
    if (this.error !== undefined) {
      this.report('dropped', 'message-end', 'result')
      return
    }
    this.#result = event.text
    this.ext = ext
    this.#usage(line)
  }

  #fail(event: Of<'error'>, ext: ReadLine['ext'], line: string): void {
    this.#usage(line)
    if (event.message === '') return
    if (this.error !== undefined) {
      this.report('dropped', 'turn-end', 'error')
      return
    }
    this.error = event.message
    this.ext = ext
    this.host.failed()
  }

  #usage(line: string): void {
    const json = member(unpadded(line), 'usage')
    const known = json === undefined || this.#usageKnown ? undefined : readUsage(json, (loss) => this.out.report(loss))
    if (!known) return
    this.#usageKnown = true
    this.out.emit({ type: 'usage', scope: 'turn', usage: known.usage }, known.ext)
  }

  /** The first valid id counts. */
  #learn(id: string): void {
    if (!this.isSession(id)) return
    if (this.session === undefined) this.session = id
    else if (this.session !== id) this.report('dropped', 'session-bound', 'session_id')
  }
}
