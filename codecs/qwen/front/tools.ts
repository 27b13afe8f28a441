import type { Entry } from '../../../src/codec-kit/index.ts'
import { type EventOf, type Id, type JsonText, parse, quote, type TurnView } from '../../../src/model/index.ts'
import { STATUS, writeDisplays } from '../display.ts'
import { ownMember, seconds } from '../wire.ts'
import type { AnswerWriter } from './answer.ts'
import type { Lines } from './lines.ts'

type Call = Pick<EventOf<'tool-call'>, 'tool' | 'name' | 'args' | 'ext' | 'executor'>

/** Writes the tools of one turn: their calls in completions, what becomes of them as displays. */
export class ToolWriter {
  readonly #lines: Lines
  readonly #answer: AnswerWriter
  readonly #called = new Set<Id>()

  constructor(lines: Lines, answer: AnswerWriter) {
    this.#lines = lines
    this.#answer = answer
  }

  /** A call begins: shown where answers come in pieces. */
  start(event: EventOf<'tool-start'>, view: TurnView): void {
    this.#answer.toolStart(event, view)
  }

  /** A whole call. One that the client is to run is pending until it brings the result. */
  call(event: Call, view: TurnView): void {
    this.#called.add(event.tool)
    this.#answer.toolCall(event, view)
    const pending = event.executor === 'client'
    this.#display({ tool: event.tool }, pending ? 'Pending' : 'Executing', 'null', view, pending)
  }

  /** Writes the output of a tool while it runs. */
  progress(event: EventOf<'tool-progress'>, view: TurnView): void {
    for (const shown of this.#displays(event)) this.#display(event, 'Executing', shown, view)
  }

  /** True when the whole call was not written, because only pieces of its arguments came. */
  misses(tool: Id): boolean {
    return !this.#called.has(tool)
  }

  /** A call that was dropped while its arguments streamed: its round ends without it. */
  drop(tool: Id): void {
    this.#answer.toolDrop(tool)
  }

  /** The result. Of several displays all but the last are shown as of a tool that runs. */
  end(event: EventOf<'tool-end'>, view: TurnView): void {
    if (event.status === 'denied') this.#weakened('status')
    const shown = this.#displays(event)
    const last = shown.pop() ?? 'null'
    if (shown.length > 0) this.#weakened('parts')
    for (const part of shown) this.#display({ tool: event.tool }, 'Executing', part, view)
    this.#display(event, STATUS[event.status], last, view)
  }

  /** The result of a tool as displays: verbatim when the agent speaks this dialect. */
  #displays(event: EventOf<'tool-end'> | EventOf<'tool-progress'>): JsonText[] {
    const own = ownMember(event.ext, 'result_display')
    return own === undefined ? writeDisplays(event.parts, (loss) => this.#lines.report(loss)) : [own]
  }

  #display(
    { tool, ext }: Pick<EventOf<'tool-end'>, 'tool' | 'ext'>,
    status: string,
    shown: JsonText,
    view: TurnView,
    pending = false,
  ): void {
    const entries: Entry[] = [
      ['tool_call_id', quote(tool)],
      ['status', quote(status)],
      ['result_display', shown],
      ['confirmation', ownMember(ext, 'confirmation') ?? 'null'],
      ['pending', String(pending)],
      ['timestamp', ownMember(ext, 'timestamp') ?? seconds(view.at)],
    ]
    this.#lines.write('x-qwen-tool-display', entries, ext)
  }

  #weakened(field: string): void {
    this.#lines.report({ kind: 'weakened', item: 'tool-end', field, why: 'too-narrow', count: 1 })
  }
}

/** A call from the view, for one of which only pieces of the arguments came; what is no JSON is an empty object. */
export function calledFrom(tool: Id, view: TurnView): Call | undefined {
  const known = view.tool(tool)
  if (!known) return undefined
  return { tool, name: known.name, args: parse(known.args) === undefined ? '{}' : known.args, executor: known.executor }
}
