import * as v from 'valibot'
import { CANCELLED, type Ending, failedWith, TurnEmitter, unparsed } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type Fault, type Id, type JsonText, member } from '../../../src/model/index.ts'
import { readBlock } from '../content.ts'
import { Chunk, Prompted } from '../schema.ts'
import { stopOf } from '../stops.ts'
import { PROTOCOL } from '../wire.ts'

/** One prompt of an agent as canonical events. `ended` is true once the turn has its end. */
export class TurnDecoder {
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  readonly out: TurnEmitter
  /** The agent's id of the open message. */
  #messageId: string | undefined
  #thinks = false
  #spoke = false

  constructor(ports: BackPorts, turn: Id) {
    this.out = new TurnEmitter(ports, turn)
  }

  /** A piece of the answer; `json` is the raw update. */
  chunk(update: unknown, json: JsonText): void {
    const chunk = this.#readChunk(update, 'text-delta')
    if (!chunk) return
    this.#beginPiece(chunk.messageId, false)
    const part = readBlock(member(json, 'content')!)
    if (part.type === 'text' && part.ext === undefined) {
      this.#spoke ||= part.text !== ''
      if (part.text !== '') this.out.text(part.text)
      return
    }
    this.#spoke = true
    this.out.openMessage()
    this.out.closeMessage([part])
  }

  /** A piece of the agent's reasoning. */
  thought(update: unknown): void {
    const chunk = this.#readChunk(update, 'reasoning-delta')
    const text = chunk?.content.text
    if (typeof text !== 'string' || text === '') return
    this.#beginPiece(chunk!.messageId, true)
    const message = this.out.message ?? this.out.openMessage()
    this.out.emit({ type: 'reasoning-delta', message, text })
  }

  /** A message that the model has no place for. */
  foreign(line: string): void {
    this.out.emit({ type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  /** The answer to the prompt. */
  prompted(result: unknown): void {
    const { success, output } = v.safeParse(Prompted, result)
    if (!success) {
      this.out.report(unparsed('turn-end'))
    }
    const stop = stopOf(success ? output.stopReason : 'end_turn')
    if (this.cancelAsked || stop === 'aborted') {
      this.#end(CANCELLED)
      return
    }
    this.out.closeMessage()
    if (!this.#spoke) this.out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
    this.#end({ outcome: 'completed', stop })
  }

  /** The turn failed, or was cancelled before it failed. */
  fail(why: Fault): void {
    this.#end(this.cancelAsked ? CANCELLED : failedWith(why))
  }

  /** A piece of another message, or of another kind, begins: what is open is over. */
  #beginPiece(messageId: string | null | undefined, thinks: boolean): void {
    this.out.started()
    const { message } = this.out
    if (message !== undefined && messageId != null && messageId !== this.#messageId) this.out.closeMessage()
    else if (message !== undefined && this.#thinks && !thinks) this.out.emit({ type: 'reasoning-end', message })
    this.#messageId = messageId ?? undefined
    this.#thinks = thinks
  }

  #readChunk(update: unknown, item: 'text-delta' | 'reasoning-delta'): v.InferOutput<typeof Chunk> | undefined {
    const { success, output } = v.safeParse(Chunk, update)
    if (!success) this.out.report(unparsed(item))
    return success ? output : undefined
  }

  #end(end: Ending): void {
    this.out.closeMessage()
    this.ended = true
    this.out.emit({ type: 'turn-end', ...end })
  }
}
