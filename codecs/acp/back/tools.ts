import * as v from 'valibot'
import { dropped, keysOf, numberedIds, type TurnEmitter } from '../../../src/codec-kit/index.ts'
import { type Ext, type Id, type JsonText, type Members, member, type ToolStatus } from '../../../src/model/index.ts'
import { nameOf, outputOf, partsOf, readToolContent, textOnly } from '../tools.ts'
import { TerminalMeta, ToolUpdate } from '../update-schema.ts'
import { unknownExt } from '../wire.ts'
import type { BegunCalls } from './begun-calls.ts'
import { type Call, changesOf, extWith } from './call.ts'

const KNOWN: ReadonlySet<string> = new Set([...keysOf(ToolUpdate), 'sessionUpdate', 'rawInput'])

/** The tool calls of one turn (Tool Calls): each update replaces what it names. */
export class Tools {
  readonly #out: TurnEmitter
  readonly #begun: BegunCalls
  readonly #calls = new Map<string, Call>()
  readonly #idOf = numberedIds()

  constructor(out: TurnEmitter, begun: BegunCalls) {
    this.#out = out
    this.#begun = begun
  }

  /** `tool_call` and `tool_call_update`; `json` is the raw update. What is said of a call after its end is a loss. */
  update(update: ToolUpdate, json: JsonText): void {
    const ext = unknownExt(json, update, KNOWN)
    const known = this.#calls.get(update.toolCallId)
    const { status } = update
    const ends = status === 'completed' || status === 'failed'
    if (!known && update['sessionUpdate'] === 'tool_call_update' && this.#begun.has(update.toolCallId)) {
      this.#out.report(dropped(ends ? 'tool-end' : 'tool-progress', 'late'))
      return
    }
    const call = known ?? this.#start(update, ends ? undefined : ext)
    this.#read(call, json)
    const changed = changesOf(call, update)
    const piece = this.#terminalPiece(call, update)
    // The first arguments of a call may be only a part of them.
    if (ends || status === 'in_progress' || (known && call.args !== '{}')) this.#call(call)
    if (ends) this.#end(update, json, extWith(changed, ext))
    else this.#progress({ call, piece, changed }, ext)
  }

  /** The call that a permission is asked for, which need not have been announced before. */
  asked(update: ToolUpdate, json: JsonText): { tool: Id; name: string; args: JsonText } {
    const call = this.#calls.get(update.toolCallId) ?? this.#start(update, undefined)
    this.#read(call, json)
    this.#call(call)
    // The question says these.
    call.reported = call.args
    call.about.title = update.title || call.about.title
    return call
  }

  /** The turn is over: agents do not always end a call that was refused. */
  close(): void {
    for (const [wireId, { tool, denied }] of this.#calls) {
      if (!denied) continue
      this.#calls.delete(wireId)
      this.#out.emit({ type: 'tool-end', tool, status: 'denied', parts: [] })
    }
  }

  /** The client refused a call: its failure is not one of its own. */
  deny(wireId: string): void {
    const call = this.#calls.get(wireId)
    if (call) call.denied = true
  }

  #start(update: ToolUpdate, ext: Ext | undefined): Call {
    const { toolCallId, kind, title } = update
    const name = nameOf(update)
    const tool = this.#idOf(toolCallId)
    const call: Call = {
      tool,
      name,
      about: { name, title, kind },
      args: '{}',
      reported: undefined,
      denied: false,
      content: undefined,
      shown: '',
      terminal: undefined,
      ext: ext?.json,
    }
    this.#calls.set(toolCallId, call)
    this.#begun.add(toolCallId)
    this.#out.closeMessage()
    this.#out.emit(
      { type: 'tool-start', tool, name, executor: 'agent', ...(kind != null && { kind }), ...(title && { title }) },
      ext,
    )
    return call
  }

  /** Keeps what the update says; an empty list or object says nothing yet. */
  #read(call: Call, json: JsonText): void {
    const args = member(json, 'rawInput')
    if (args !== undefined && args !== 'null' && args !== '{}') call.args = args
    const content = member(json, 'content')
    if (content?.startsWith('[') && !/^\[\s*\]$/.test(content)) call.content = content
  }

  #call(call: Call): void {
    if (call.reported !== undefined) return
    call.reported = call.args
    this.#out.emit({ type: 'tool-call', tool: call.tool, name: call.name, args: call.args, executor: 'agent' })
  }

  /** Shows output that has grown; content of other kinds is shown at the end, whole. */
  #progress({ call, piece, changed }: { call: Call; piece: string; changed: Members }, ext: Ext | undefined): void {
    const parts = partsOf(piece + this.#grown(call))
    const more = extWith(changed, ext?.json === call.ext ? undefined : ext)
    call.ext = ext?.json ?? call.ext
    if (parts.length > 0 || more) this.#out.emit({ type: 'tool-progress', tool: call.tool, parts }, more)
  }

  /** The text that the content has more than what was shown of it. */
  #grown(call: Call): string {
    const text = textOnly(readToolContent(call.content).parts)
    if (text === undefined || !text.startsWith(call.shown)) return ''
    const grown = text.slice(call.shown.length)
    call.shown = text
    return grown
  }

  #terminalPiece(call: Call, update: ToolUpdate): string {
    const { success, output } = v.safeParse(TerminalMeta, update)
    if (!success) return ''
    const { terminal_output: written, terminal_info: info, terminal_exit: exit } = output._meta
    const piece = written?.data ?? ''
    if (written || info || exit) call.terminal = (call.terminal ?? '') + piece
    return piece
  }

  #end(update: ToolUpdate, json: JsonText, ext: Ext | undefined): void {
    const call = this.#calls.get(update.toolCallId)!
    this.#calls.delete(update.toolCallId)
    const { parts, terminals } = readToolContent(call.content)
    if (terminals > 0 && call.terminal === undefined) {
      this.#out.report({ ...dropped('tool-end', 'terminal'), count: terminals })
    }
    const failed: ToolStatus = call.denied ? 'denied' : 'error'
    const result = [...parts, ...partsOf(call.terminal ?? '')]
    this.#out.emit(
      {
        type: 'tool-end',
        tool: call.tool,
        status: update.status === 'completed' ? 'ok' : failed,
        parts: result.length > 0 ? result : outputOf(member(json, 'rawOutput')),
      },
      ext,
    )
  }
}
