import {
  CANCELLED,
  dropped,
  type Ending,
  failedWith,
  keysOf,
  TurnEmitter,
  unparsed,
  weakened,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  addUsage,
  type Ext,
  type Fault,
  type Id,
  isRecord,
  type JsonText,
  member,
  type Usage,
} from '../../../src/model/index.ts'
import { readBlock } from '../content.ts'
import { Chunk, ToolUpdate } from '../update-schema.ts'
import { readUsage } from '../usage.ts'
import { PROTOCOL, unknownExt } from '../wire.ts'
import { readAnswer } from './answer.ts'
import type { BegunCalls } from './begun-calls.ts'
import { ModelFailure } from './model-failure.ts'
import { readUpdate, takeNote } from './notes.ts'
import type { Quirks } from './quirks.ts'
import { Tools } from './tools.ts'

/** The members of a piece of a message that are read, also where its `_meta` counts the tokens of a model call. */
const CHUNK: ReadonlySet<string> = new Set([...keysOf(Chunk), 'sessionUpdate'])
const COUNTED: ReadonlySet<string> = new Set([...CHUNK, '_meta'])

/** One prompt of an agent as canonical events. `ended` is true once the turn has its end. */
export class TurnDecoder {
  /** The client asked to cancel: any later end of the turn is a cancellation. */
  cancelAsked = false
  ended = false
  readonly out: TurnEmitter
  readonly tools: Tools
  readonly failure = new ModelFailure()
  /** The agent's id of the open message. */
  #messageId: string | undefined
  #thinks = false
  #spoke = false
  /** The sum of the model calls that were counted. */
  #counted: Usage | undefined

  /** `begun` are the tool calls that the agent has begun. */
  constructor(ports: BackPorts, turn: Id, begun: BegunCalls) {
    this.out = new TurnEmitter(ports, turn)
    this.tools = new Tools(this.out, begun)
  }

  /** Takes an update of the session (`json` is raw); false for one of an unknown kind. */
  update(update: { sessionUpdate: string }, json: JsonText): boolean {
    this.out.started()
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        this.#chunk(update, json)
        return true
      case 'agent_thought_chunk':
        this.#thought(update, json)
        return true
      case 'tool_call':
      case 'tool_call_update':
        this.#tool(update, json)
        return true
      // The prompt as the agent repeats it.
      case 'user_message_chunk':
        return true
      default:
        return takeNote(this.out, update, json)
    }
  }

  /** A piece of the answer that is a text, most often nothing else: the hot path. */
  text(text: string, ext?: Ext): void {
    if (text === '') {
      if (ext) this.out.report(dropped('ext', PROTOCOL))
      return
    }
    this.#spoke = true
    this.failure.text(text)
    this.out.text(text, ext)
  }

  /** True when a piece of text of this message continues the open one. */
  continues(messageId: string | undefined): boolean {
    return this.out.message !== undefined && !this.#thinks && (messageId === undefined || messageId === this.#messageId)
  }

  /** A message that the model has no place for. */
  foreign(line: string): void {
    this.out.emit({ type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  /** The answer to the prompt; `json` is its raw result, `tokensOf` gives the tokens of the turn for those that it counts. */
  prompted(
    result: unknown,
    json: JsonText,
    quirks: Quirks,
    tokensOf: (counted: Usage | undefined) => Usage | undefined,
  ): void {
    const { stop, usage, ext } = readAnswer(result, json, (loss) => this.out.report(loss))
    this.#counted = tokensOf(usage) ?? this.#counted
    const failed = this.failure.fault(quirks)
    if (this.cancelAsked || stop === 'aborted') {
      this.#end({ ...CANCELLED, ...(ext && { ext }) })
      return
    }
    this.out.closeMessage()
    this.tools.close()
    if (failed) {
      this.#end(failedWith(failed))
      return
    }
    if (!this.#spoke) this.out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
    this.#end({ outcome: 'completed', stop, ...(ext && { ext }) })
  }

  /** The turn failed, or was cancelled before it failed. */
  fail(why: Fault): void {
    this.#end(this.cancelAsked ? CANCELLED : failedWith(why))
  }

  #chunk(update: unknown, json: JsonText): void {
    const chunk = readUpdate(this.out, Chunk, update, 'text-delta')
    if (!chunk) return
    const ext = unknownExt(json, chunk, this.#count(chunk['_meta']) ? COUNTED : CHUNK)
    const part = readBlock(member(json, 'content')!)
    if (part.type === 'data' && chunk.content.type === 'text') {
      this.out.report(unparsed('text-delta'))
      return
    }
    this.#beginPiece(chunk.messageId, false)
    if (part.type === 'text' && part.ext === undefined) {
      this.text(part.text, ext)
      return
    }
    this.#spoke = true
    this.out.openMessage()
    this.out.closeMessage([part], ext)
  }

  /** A piece of reasoning, which is text alone. */
  #thought(update: unknown, json: JsonText): void {
    const chunk = readUpdate(this.out, Chunk, update, 'reasoning-delta')
    if (!chunk) return
    const ext = unknownExt(json, chunk, CHUNK)
    const part = readBlock(member(json, 'content')!)
    if (part.type !== 'text') {
      const isText = chunk.content.type === 'text'
      this.out.report(isText ? unparsed('reasoning-delta') : dropped('reasoning-delta', 'content'))
      return
    }
    if (part.ext) this.out.report(weakened('reasoning-delta', 'content'))
    if (part.text === '') {
      if (ext) this.out.report(dropped('ext', PROTOCOL))
      return
    }
    this.#beginPiece(chunk.messageId, true)
    const message = this.out.message ?? this.out.openMessage()
    this.out.emit({ type: 'reasoning-delta', message, text: part.text }, ext)
  }

  #tool(update: unknown, json: JsonText): void {
    const tool = readUpdate(this.out, ToolUpdate, update, 'tool-start')
    if (tool) this.tools.update(tool, json)
  }

  /** Reads the tokens of a model call, which some agents report with an empty piece of text; false without any. */
  #count(meta: unknown): boolean {
    const usage = isRecord(meta) ? readUsage(meta['usage'], (loss) => this.out.report(loss)) : undefined
    if (!usage) return false
    this.#counted = addUsage(this.#counted ?? {}, usage)
    this.out.emit({ type: 'usage', scope: 'call', usage })
    return true
  }

  /** A piece of another message, or of another kind, ends the open one. */
  #beginPiece(messageId: string | null | undefined, thinks: boolean): void {
    const { message } = this.out
    if (message !== undefined && messageId != null && messageId !== this.#messageId) this.out.closeMessage()
    else if (message !== undefined && this.#thinks && !thinks) this.out.emit({ type: 'reasoning-end', message })
    this.#messageId = messageId ?? undefined
    this.#thinks = thinks
  }

  #end(end: Ending): void {
    this.out.closeMessage()
    this.ended = true
    if (this.#counted) this.out.emit({ type: 'usage', scope: 'turn', usage: this.#counted })
    this.out.emit({ type: 'turn-end', ...end })
  }
}
