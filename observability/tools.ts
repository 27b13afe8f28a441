/** The spans of a turn's tool calls, as far as the agent reports them. */

import { type Attributes, type Context, type Span, SpanKind, type Tracer } from '@opentelemetry/api'
import type { ToolEvent } from '../src/contract/index.ts'
import { ATTR, EXECUTE_TOOL, OTHER } from './attributes.ts'
import { cut, toolResult } from './content.ts'
import { finish } from './processes.ts'

/** The limit of tool spans per turn, because a turn may last for hours. */
const MAX_TOOLS = 128
/** A longer name is cut: agents choose them. Characters. */
const MAX_NAME = 128

/** The tool calls of one turn. */
export class ToolSpans {
  readonly #tracer: Tracer
  readonly #parent: Context
  readonly #content: boolean
  readonly #open = new Map<string, Span>()
  #count = 0

  /** `content`: records arguments and results as attributes. */
  constructor(tracer: Tracer, parent: Context, content: boolean) {
    this.#tracer = tracer
    this.#parent = parent
    this.#content = content
  }

  take(event: ToolEvent): void {
    const span = this.#open.get(event.tool) ?? (event.type === 'tool-end' ? undefined : this.#begin(event))
    if (!span) return
    if (event.type === 'tool-call' && this.#content) span.setAttribute(ATTR.toolArguments, cut(event.args))
    if (event.type !== 'tool-end') return
    if (this.#content) span.setAttribute(ATTR.toolResult, toolResult(event.parts))
    finish(span, ERRORS[event.status])
    this.#open.delete(event.tool)
  }

  /** The turn has ended; ends the spans of open calls. */
  close(): void {
    for (const span of this.#open.values()) finish(span, OTHER)
    this.#open.clear()
  }

  #begin({ tool, name, executor }: Exclude<ToolEvent, { type: 'tool-end' }>): Span | undefined {
    if (this.#count >= MAX_TOOLS) return undefined
    this.#count += 1
    const called = name.slice(0, MAX_NAME)
    const attributes: Attributes = {
      [ATTR.operation]: EXECUTE_TOOL,
      [ATTR.toolName]: called,
      [ATTR.toolCall]: tool,
      [ATTR.toolType]: executor === 'client' ? 'function' : 'extension',
      [ATTR.observed]: true,
    }
    const span = this.#tracer.startSpan(
      `${EXECUTE_TOOL} ${called}`,
      { kind: SpanKind.INTERNAL, attributes },
      this.#parent,
    )
    this.#open.set(tool, span)
    return span
  }
}

/** `error.type` of a tool's end. */
const ERRORS = { ok: undefined, error: 'tool_error', denied: 'denied', cancelled: 'cancelled' } as const
