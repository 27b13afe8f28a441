import { isDropped, type Report, weakened } from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  type Ext,
  type Id,
  type JsonText,
  type Members,
  quote,
  type ToolView,
  type TurnView,
} from '../../../src/model/index.ts'
import { ownExt } from '../wire.ts'
import { endJson, inputJson, kindJson, resultMembers } from './tool-entries.ts'
import type { Updates } from './updates.ts'

/** The most text of a running tool that is shown, in UTF-16 units: each update repeats all of it. */
const PROGRESS_LIMIT = 8192

/** Writes the tool calls of one prompt. */
export class ToolWriter {
  readonly #updates: Updates
  readonly #prefix: string
  readonly #report: Report
  /** The calls that the client knows. */
  readonly #announced = new Set<Id>()
  /** The text that running tools have shown. */
  readonly #progress = new Map<Id, string>()

  /** `prefix` distinguishes the calls of one prompt from those of others in the session. */
  constructor(updates: Updates, prefix: string, report: Report) {
    this.#updates = updates
    this.#prefix = prefix
    this.#report = report
  }

  /** The id of a call on the wire. */
  idOf(tool: Id): string {
    return this.#prefix + tool
  }

  /** `tool_call` of a call whose arguments are still being written. */
  start({ tool, name, kind, title, ext }: EventOf<'tool-start'>): void {
    this.#announce(tool, name, kind, title, { status: '"pending"' }, ext)
  }

  /** The whole arguments of a call, which runs from here on. */
  call({ tool, name, args, ext }: EventOf<'tool-call'>, view: TurnView): void {
    const more: Members = { status: '"in_progress"', rawInput: inputJson(args) }
    if (this.#announced.has(tool)) this.#update(tool, more, ownExt(ext))
    else {
      const known = view.tool(tool)
      this.#announce(tool, name, known?.kind, known?.title, more, ext)
    }
  }

  /** The output of a running call so far; text beyond a limit loses its beginning. */
  progress({ tool, parts, ext }: EventOf<'tool-progress'>): void {
    let text = this.#progress.get(tool) ?? ''
    for (const part of parts) if (part.type === 'text') text += part.text
    const others = parts.filter(({ type }) => type !== 'text')
    if (text.length > PROGRESS_LIMIT) {
      text = text.slice(-PROGRESS_LIMIT).toWellFormed()
      this.#report(weakened('tool-progress', undefined, 'too-narrow'))
    }
    this.#progress.set(tool, text)
    const shown = text === '' ? others : [{ type: 'text', text } as const, ...others]
    this.#update(tool, resultMembers(shown, this.#report), ownExt(ext))
  }

  /** The end of a call; one that was dropped while its arguments were written has only failed. */
  end({ tool, status, parts, ext }: EventOf<'tool-end'>, view: TurnView): void {
    const known = view.tool(tool)
    this.#progress.delete(tool)
    if (known && !this.#announced.has(tool)) {
      if (isDropped(known)) return
      this.#announce(tool, known.name, known.kind, known.title, { rawInput: inputJson(known.args) }, undefined)
    }
    const entries: Members = {
      status: endJson(status, known && isDropped(known) ? () => {} : this.#report),
      rawInput: lateInput(known),
      ...resultMembers(parts, this.#report),
    }
    this.#update(tool, entries, ownExt(ext))
  }

  #announce(
    tool: Id,
    name: string,
    kind: string | undefined,
    title: string | undefined,
    more: Members,
    ext: Ext | undefined,
  ): void {
    this.#announced.add(tool)
    const entries: Members = {
      toolCallId: quote(this.idOf(tool)),
      title: quote(title ?? name),
      name: quote(name),
      kind: kindJson(kind, this.#report),
      ...more,
    }
    this.#updates.write('tool_call', entries, ownExt(ext))
  }

  #update(tool: Id, entries: Members, extra: JsonText | undefined): void {
    this.#updates.write('tool_call_update', { toolCallId: quote(this.idOf(tool)), ...entries }, extra)
  }
}

/** The arguments of a call that came in pieces only. */
function lateInput(tool: ToolView | undefined): JsonText | undefined {
  return tool && !tool.called && !isDropped(tool) ? inputJson(tool.args) : undefined
}
