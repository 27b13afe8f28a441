import { type CallResult, withFurther } from '../../../src/codec-kit/index.ts'
import { type JsonText, type Message, object, type Part, quote } from '../../../src/model/index.ts'
import { isItemData } from '../content.ts'
import type { DeclaredTools } from '../declared-tools.ts'
import { MESSAGES, ownOf, reportOwn } from '../further.ts'
import type { LostPart } from '../part-loss.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import { contentJson, outputJson } from './content.ts'

/** Writes the items of a conversation for a server. */
export class ItemWriter {
  readonly #tools: DeclaredTools
  readonly #lost: LostPart
  /** The calls of custom tools: their results have a type of their own. */
  readonly #custom = new Set<string>()

  /** `tools` are those of the client; `lost` gets parts that items have no form for. */
  constructor(tools: DeclaredTools, lost: LostPart) {
    this.#tools = tools
    this.#lost = lost
  }

  /** A message: its text and files are an item, and so is each call, each result and each block of reasoning. */
  message({ role, parts }: Pick<Message, 'role' | 'parts'>): JsonText[] {
    const items: JsonText[] = []
    let said: Part[] = []
    const flush = (): void => {
      if (said.length > 0) items.push(this.#said(role, said))
      said = []
    }
    for (const part of parts) {
      if (!isItem(part)) {
        if (MESSAGES.responses.of([part]) !== undefined) flush()
        said.push(part)
        continue
      }
      flush()
      items.push(...this.#item(part))
    }
    flush()
    return items
  }

  /** The result of a call. A text says that it failed where there is no other, else that is a loss. */
  result(result: CallResult): JsonText {
    const { tool, status, parts } = result
    const said = outputJson(parts, this.#lost)
    const failed = status !== 'ok'
    if (failed && said !== '""' && !result.saysStatus) this.#lost(result, 'status')
    const text = failed && said === '""' ? quote(`The tool call ended with the status: ${status}.`) : said
    return this.#own(result, [
      ['type', this.#custom.has(tool) ? '"custom_tool_call_output"' : '"function_call_output"'],
      ['call_id', quote(tool)],
      ['output', text],
    ])
  }

  /** Notes that a call which a server made is one of a custom tool. */
  isCustom(tool: string): void {
    this.#custom.add(tool)
  }

  #said(role: Message['role'], parts: readonly Part[]): JsonText {
    const assistant = role === 'assistant'
    const json = object([
      ['type', '"message"'],
      ['role', quote(assistant || role === 'system' ? role : 'user')],
      ['content', contentJson(parts, assistant ? 'output_text' : 'input_text', this.#lost)],
    ])
    return withFurther(json, MESSAGES.responses.of(parts))
  }

  /** An item of its own, with the further members that it came with. */
  #own(part: ItemPart, entries: readonly (readonly [string, JsonText | undefined])[]): JsonText {
    reportOwn(part, 'responses', this.#lost)
    return withFurther(object(entries), ownOf(part, 'responses'))
  }

  #item(part: ItemPart): JsonText[] {
    switch (part.type) {
      case 'tool-call':
        return [this.#call(part)]
      case 'tool-reply':
        return [this.result(part)]
      case 'reasoning':
        return this.#reasoning(part)
      case 'data':
        return [part.json]
    }
  }

  #call(call: Part & { type: 'tool-call' }): JsonText {
    const { tool, name, args } = call
    const declared = this.#tools.get(name)
    const custom = declared?.kind === 'custom'
    if (custom) this.isCustom(tool)
    return this.#own(call, [
      ['type', custom ? '"custom_tool_call"' : '"function_call"'],
      ['call_id', quote(tool)],
      ['name', quote(declared?.name ?? name)],
      ['namespace', declared?.namespace === undefined ? undefined : quote(declared.namespace)],
      [custom ? 'input' : 'arguments', quote(args)],
    ])
  }

  /** Only sealed reasoning can be read by a server, and only by one of this API. */
  #reasoning(part: Part & { type: 'reasoning' }): JsonText[] {
    const { text, seal } = part
    if (seal?.provider !== PROTOCOL) {
      this.#lost(part)
      reportOwn(part, 'responses', this.#lost)
      return []
    }
    const summary = text === '' ? '[]' : `[{"type":"summary_text","text":${quote(text)}}]`
    return [
      this.#own(part, [
        ['type', '"reasoning"'],
        ['id', ownMember(part.ext, 'id')],
        ['summary', ownMember(part.ext, 'summary') ?? summary],
        ['content', ownMember(part.ext, 'content')],
        ['encrypted_content', quote(seal.data)],
      ]),
    ]
  }
}

type ItemPart = Part & { type: 'tool-call' | 'tool-reply' | 'reasoning' | 'data' }

/** True for a part that is an item of its own: also one of another type, which came as an item. */
function isItem(part: Part): part is ItemPart {
  if (part.type === 'data') return isItemData(part)
  return part.type === 'tool-call' || part.type === 'tool-reply' || part.type === 'reasoning'
}
