import { type EventOf, elements, type Id, type JsonText, type Part } from '../../../src/model/index.ts'
import type { Emitter } from './emit.ts'

/** The tool calls of one turn, over all lanes. */
export class Tools {
  /** The number of calls of an id that wait for their results: the wire may give several calls one id. */
  readonly #open = new Map<Id, number>()
  /** The number of them that began in pieces and have not come whole yet. */
  readonly #drafted = new Map<Id, number>()
  readonly #denied = new Set<Id>()
  /** Calls whose arguments stream, by their block. */
  readonly #drafts = new Map<number, Id>()

  /** `content_block_start` of a call. */
  draft(out: Emitter, index: number, tool: Id, name: string): void {
    this.#drafts.set(index, tool)
    count(this.#open, tool, 1)
    count(this.#drafted, tool, 1)
    out.emit({ type: 'tool-start', tool, name, executor: 'agent' })
  }

  /** `input_json_delta`; false when no call streams there. */
  args(out: Emitter, index: number, text: string): boolean {
    const tool = this.#drafts.get(index)
    if (tool === undefined) return false
    out.emit({ type: 'tool-args-delta', tool, text })
    return true
  }

  /** A new answer counts its blocks from zero. */
  forgetDrafts(): void {
    this.#drafts.clear()
  }

  /** The whole call. */
  call(out: Emitter, tool: Id, name: string, args: JsonText, extra?: JsonText): void {
    if (this.#drafted.has(tool)) count(this.#drafted, tool, -1)
    else count(this.#open, tool, 1)
    out.emit({ type: 'tool-call', tool, name, args, executor: 'agent' }, extra)
  }

  has(tool: Id): boolean {
    return this.#open.has(tool)
  }

  /** The client refused it. */
  deny(tool: Id): void {
    this.#denied.add(tool)
  }

  /** `tool_result`; false when there is no such call. */
  end(
    out: Emitter,
    { tool, status, parts }: Pick<EventOf<'tool-end'>, 'tool' | 'status' | 'parts'>,
    extra?: JsonText,
  ): boolean {
    if (!this.#open.has(tool)) return false
    count(this.#open, tool, -1)
    const denied = status !== 'ok' && this.#denied.has(tool)
    out.emit({ type: 'tool-end', tool, status: denied ? 'denied' : status, parts }, extra)
    return true
  }
}

function count(counts: Map<Id, number>, id: Id, by: number): void {
  const now = (counts.get(id) ?? 0) + by
  if (now === 0) counts.delete(id)
  else counts.set(id, now)
}

/** The content of a `tool_result`: a text, or blocks of which those without a text stay JSON; `json` is its raw text. */
export function resultParts(
  content: string | readonly { type: string }[] | undefined,
  json: JsonText | undefined,
): Part[] {
  if (content === undefined) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  const raw = elements(json!)
  return content.map((block, at) => {
    const text = block.type === 'text' && 'text' in block ? block.text : undefined
    return typeof text === 'string' ? { type: 'text', text } : { type: 'data', json: raw[at]! }
  })
}
