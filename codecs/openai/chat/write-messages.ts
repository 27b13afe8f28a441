import { type CallResult, type Entry, withFurther } from '../../../src/codec-kit/index.ts'
import { type JsonText, type Message, object, type Part, quote, textOf } from '../../../src/model/index.ts'
import { isItemData, isRefusal } from '../content.ts'
import { type DeclaredTools, formOf } from '../declared-tools.ts'
import { MESSAGES, ownOf, reportOwn } from '../further.ts'
import type { LostPart } from '../part-loss.ts'
import { contentJson, isPlain } from './content.ts'

/** Writes the messages of a conversation for a server. */
export class MessageWriter {
  readonly #lost: LostPart
  readonly #tools: DeclaredTools

  /** `tools` are those of the client; `lost` gets what messages have no form for. */
  constructor(tools: DeclaredTools, lost: LostPart) {
    this.#lost = lost
    this.#tools = tools
  }

  /** The side that runs the tool of a name. */
  executorOf(name: string): 'client' | 'agent' {
    return this.#tools.get(name) ? 'client' : 'agent'
  }

  /** A canonical message as those of a request: the results of tools are messages of their own. */
  message({ role, parts }: Pick<Message, 'role' | 'parts'>): JsonText[] {
    const results = parts.filter((part) => part.type === 'tool-reply')
    const others = parts.filter((part) => part.type !== 'tool-reply' && !isItemData(part))
    for (const part of parts) if (isItemData(part)) this.#lost(part)
    const replies = results.map((result) => this.result(result))
    if (others.length === 0) return replies
    if (role === 'assistant') return [this.answer(others), ...replies]
    const said = MESSAGES.chat.split(others).map((all) =>
      ofMessage(all, [
        ['role', quote(role === 'system' ? 'system' : 'user')],
        ['content', contentJson(all, this.#lost)],
      ]),
    )
    return [...replies, ...said]
  }

  /**
   * The result of a tool as a message. The protocol has no place for a failure: a text says so where there is no other,
   * else it is a loss.
   */
  result(result: CallResult): JsonText {
    reportOwn(result, 'chat', this.#lost)
    const { tool, status, parts } = result
    const said = this.#said(parts)
    const failed = status !== 'ok'
    if (failed && said !== '""' && !result.saysStatus) this.#lost(result, 'status')
    const text = failed && said === '""' ? quote(`The tool call ended with the status: ${status}.`) : said
    const entries: Entry[] = [
      ['role', '"tool"'],
      ['tool_call_id', quote(tool)],
      ['content', text],
    ]
    return ofMessage([result], entries)
  }

  /** The text and calls of the model, as a message. It has no reasoning: only some servers accept that. */
  answer(parts: readonly Part[]): JsonText {
    const calls = parts.filter((part) => part.type === 'tool-call')
    const refusals = parts.filter(isOwnMember)
    const said = parts.filter((part) => part.type !== 'tool-call' && part.type !== 'reasoning' && !isOwnMember(part))
    for (const part of parts) if (part.type === 'reasoning') this.#lost(part)
    const content = said.length === 0 && calls.length + refusals.length > 0 ? 'null' : contentJson(said, this.#lost)
    return ofMessage(parts, [
      ['role', '"assistant"'],
      ['content', content],
      ['refusal', refusals.length === 0 ? undefined : quote(textOf(refusals))],
      ['tool_calls', calls.length === 0 ? undefined : `[${calls.map((call) => this.#call(call)).join(',')}]`],
    ])
  }

  /** The content of a result: one text where all that it has is text. */
  #said(parts: readonly Part[]): JsonText {
    if (!parts.every(isPlain)) return contentJson(parts, this.#lost)
    for (const part of parts) reportOwn(part, 'chat', this.#lost)
    return quote(textOf(parts))
  }

  #call(call: Part & { type: 'tool-call' }): JsonText {
    reportOwn(call, 'chat', this.#lost)
    const [type, given] = formOf(this.#tools.get(call.name))
    const called = object([
      ['name', quote(call.name)],
      [given, quote(call.args)],
    ])
    const json = object([
      ['id', quote(call.tool)],
      ['type', quote(type)],
      [type, called],
    ])
    return withFurther(json, ownOf(call, 'chat'))
  }
}

/** True for a refusal that is the member of its message; one with further members is a part of the content. */
function isOwnMember(part: Part): boolean {
  return isRefusal(part) && ownOf(part, 'chat') === undefined
}

/** A message with the further members that it came with. */
function ofMessage(parts: readonly Part[], entries: readonly Entry[]): JsonText {
  return withFurther(object(entries), MESSAGES.chat.of(parts))
}
