import { dropped, isDropped, weakened } from '../../../src/codec-kit/index.ts'
import {
  asJson,
  type EventOf,
  type Ext,
  type Id,
  type JsonText,
  type Members,
  parse,
  quote,
  type TurnView,
} from '../../../src/model/index.ts'
import { contentOf } from '../content.ts'
import type { Lines } from './lines.ts'

const CONTENT = new Set(['content'])

/** Writes the tools of one prompt. */
export class ToolWriter {
  readonly #lines: Lines
  /** Calls whose arguments are still being written. */
  readonly #drafts = new Set<Id>()
  readonly #called = new Set<Id>()

  constructor(lines: Lines) {
    this.#lines = lines
  }

  /** `tool_use_start`. */
  start(event: EventOf<'tool-start'>): void {
    this.#drafts.add(event.tool)
    this.#lines.write('tool_use_start', { id: quote(event.tool), name: quote(event.name) }, event.ext)
  }

  /** `tool_use_args`. */
  args(event: EventOf<'tool-args-delta'>): void {
    this.#lines.write('tool_use_args', { id: quote(event.tool), delta: quote(event.text) }, event.ext)
  }

  /** `tool_use_end` of all calls that are still being written: the model has no event for it. */
  closeDrafts(): void {
    for (const tool of this.#drafts) this.#lines.write('tool_use_end', { id: quote(tool) })
    this.#drafts.clear()
  }

  /** `tool_call`. */
  call(tool: Id, name: string, args: JsonText, ext?: Ext): void {
    this.closeDrafts()
    this.#called.add(tool)
    this.#lines.write('tool_call', { id: quote(tool), name: quote(name), args: args === '' ? '{}' : asJson(args) }, ext)
  }

  /** `tool_progress`, one for each text. */
  progress({ tool, parts, ext }: EventOf<'tool-progress'>): void {
    for (const part of parts) {
      if (part.type === 'text') this.#lines.write('tool_progress', { id: quote(tool), text: quote(part.text) }, ext)
      else this.#lines.report(dropped(`part.${part.type}`, 'tool_progress'))
    }
  }

  /** `tool_result`; before it the call, if only pieces of its arguments came; nothing for a call that was dropped. What is not JSON is `{}` on this wire. */
  end(event: EventOf<'tool-end'>, view: TurnView): void {
    const tool = view.tool(event.tool)
    if (tool && isDropped(tool)) {
      this.closeDrafts()
      return
    }
    if (tool && !this.#called.has(tool.id)) {
      this.call(tool.id, tool.name, parse(tool.args) === undefined ? '{}' : tool.args)
    }
    if (event.status === 'denied' || event.status === 'cancelled') {
      this.#lines.report(weakened('tool-end', 'status', 'too-narrow'))
    }
    const entries: Members = {
      id: quote(event.tool),
      is_error: String(event.status !== 'ok'),
      content: contentOf(event.parts, event.ext, (loss) => this.#lines.report(loss)),
    }
    this.#lines.write('tool_result', entries, event.ext, CONTENT)
  }
}
