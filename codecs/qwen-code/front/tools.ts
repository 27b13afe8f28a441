import { isDropped } from '../../../src/codec-kit/index.ts'
import {
  type Id,
  isRecord,
  type JsonText,
  object,
  type Part,
  parse,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { type AnswerWriter, textBlock } from './answer.ts'
import type { Lines } from './lines.ts'
import type { FrontLosses } from './losses.ts'
import type { ClientState } from './state.ts'

type Event<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

/** Writes the tools of one turn, and what the lanes of sub-agents say. */
export class ToolWriter {
  readonly #lines: Lines
  readonly #state: ClientState
  readonly #answer: AnswerWriter
  readonly #losses: FrontLosses
  readonly #model: () => string
  /** Calls of sub-agents that were written. */
  readonly #called = new Set<Id>()

  constructor(lines: Lines, state: ClientState, answer: AnswerWriter, losses: FrontLosses, model: () => string) {
    this.#losses = losses
    this.#lines = lines
    this.#state = state
    this.#answer = answer
    this.#model = model
  }

  /** An `assistant` line of a sub-agent. */
  laneLine(block: JsonText, stop: 'tool_use' | null, lane: string, extra: JsonText | undefined): void {
    this.#lines.assistant([block], stop, { id: this.#state.ids.next(), model: this.#model(), lane, extra })
  }

  /** `tool_use`. */
  call(event: Pick<Event<'tool-call'>, 'tool' | 'name' | 'args' | 'lane'>, view: TurnView, extra?: JsonText): void {
    const { tool, name, args, lane } = event
    const input = this.#input(args)
    if (lane === undefined) this.#answer.call(tool, name, input, view, extra)
    else {
      this.#called.add(tool)
      const block = `{"type":"tool_use","id":${quote(tool)},"name":${quote(name)},"input":${input}}`
      this.laneLine(block, 'tool_use', lane, extra)
    }
  }

  /** `tool_progress`, which is one of the pieces. */
  progress(event: Event<'tool-progress'>, extra: JsonText | undefined): void {
    for (const part of event.parts) {
      if (part.type !== 'data' && part.type !== 'text') this.#lines.drop(`part.${part.type}`, 'tool_progress')
      else if (this.#state.args.partial) {
        const content = part.type === 'data' ? part.json : textBlock(part.text)
        this.#lines.event(`{"type":"tool_progress","tool_use_id":${quote(event.tool)},"content":${content}}`, extra)
      } else this.#losses.toolProgress()
    }
  }

  /** `tool_result`; before it the call, if only pieces of its arguments came; nothing for a call that was dropped. */
  end(event: Event<'tool-end'>, view: TurnView, extra: JsonText | undefined): void {
    const tool = view.tool(event.tool)
    if (tool && isDropped(tool)) return
    const { lane } = event
    if (tool && !(lane === undefined ? this.#answer.isCalled(tool.id) : this.#called.has(tool.id))) {
      this.call({ tool: tool.id, name: tool.name, args: tool.args, ...(lane !== undefined && { lane }) }, view)
    }
    if (lane === undefined) this.#answer.end(view)
    if (event.status === 'denied' && tool) {
      this.#state.refused.push({ name: tool.name, id: tool.id, args: tool.args })
    }
    this.#lines.user(this.#result(event.tool, event.status !== 'ok', event.parts), event.lane, extra)
  }

  #result(tool: Id, failed: boolean, parts: readonly Part[]): JsonText {
    return object([
      ['type', '"tool_result"'],
      ['tool_use_id', quote(tool)],
      ['is_error', String(failed)],
      ['content', quote(parts.map((part) => this.#text(part)).join('\n'))],
    ])
  }

  /** The raw arguments; this wire has objects alone. */
  #input(args: JsonText): JsonText {
    if (isRecord(parse(args))) return args
    this.#lines.report({ kind: 'weakened', item: 'tool-call', field: 'input', why: 'too-narrow', count: 1 })
    return '{}'
  }

  /** The results of this wire are text. */
  #text(part: Part): string {
    if (part.type === 'text') return part.text
    const text = part.type === 'data' ? part.json : part.type === 'diff' ? part.after : ''
    const kind = text === '' ? 'dropped' : 'weakened'
    this.#lines.report({ kind, item: `part.${part.type}`, field: 'tool_result', why: 'no-place', count: 1 })
    return text
  }
}
