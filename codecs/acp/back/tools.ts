import * as v from 'valibot'
import { dropped, keysOf, numberedIds, type TurnEmitter } from '../../../src/codec-kit/index.ts'
import { type Ext, type Id, type JsonText, member, type ToolStatus } from '../../../src/model/index.ts'
import { nameOf, outputOf, partsOf, readToolContent, textOnly } from '../tools.ts'
import { TerminalMeta, ToolUpdate } from '../update-schema.ts'
import { unknownExt } from '../wire.ts'

/** A tool call of the turn that has not ended. */
interface Call {
  readonly tool: Id
  readonly name: string
  /** Its arguments, as the agent wrote them last. */
  args: JsonText
  called: boolean
  /** The client refused it. */
  denied: boolean
  /** Its content as the agent wrote it last, and the text of it that was shown. */
  content: JsonText | undefined
  shown: string
  /** The output of its terminal; undefined unless the agent runs the terminal itself and sends its output. */
  terminal: string | undefined
  /** Further fields of the last update. */
  ext: JsonText | undefined
}

const KNOWN: ReadonlySet<string> = new Set([...keysOf(ToolUpdate), 'sessionUpdate', 'rawInput'])

/** The tool calls of one turn (Tool Calls): each update replaces what it names. */
export class Tools {
  readonly #out: TurnEmitter
  readonly #calls = new Map<string, Call>()
  readonly #idOf = numberedIds()

  constructor(out: TurnEmitter) {
    this.#out = out
  }

  /** `tool_call` and `tool_call_update`; `json` is the raw update. */
  update(update: ToolUpdate, json: JsonText): void {
    const ext = unknownExt(json, update, KNOWN)
    const known = this.#calls.get(update.toolCallId)
    const { status } = update
    const ends = status === 'completed' || status === 'failed'
    const call = known ?? this.#start(update, ends ? undefined : ext)
    this.#read(call, json)
    const piece = this.#terminalPiece(call, update)
    // The first arguments of a call may be only a part of them.
    if (ends || status === 'in_progress' || (known && call.args !== '{}')) this.#call(call)
    if (ends) this.#end(update, json, ext)
    else this.#progress(call, piece, ext)
  }

  /** The call that a permission is asked for, which need not have been announced before. */
  asked(update: ToolUpdate, json: JsonText): { tool: Id; name: string; args: JsonText } {
    const call = this.#calls.get(update.toolCallId) ?? this.#start(update, undefined)
    this.#read(call, json)
    this.#call(call)
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
      args: '{}',
      called: false,
      denied: false,
      content: undefined,
      shown: '',
      terminal: undefined,
      ext: ext?.json,
    }
    this.#calls.set(toolCallId, call)
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
    if (call.called) return
    call.called = true
    this.#out.emit({ type: 'tool-call', tool: call.tool, name: call.name, args: call.args, executor: 'agent' })
  }

  /** Shows output that has grown; content of other kinds is shown at the end, whole. */
  #progress(call: Call, piece: string, ext: Ext | undefined): void {
    const parts = partsOf(piece + this.#grown(call))
    const more = ext?.json === call.ext ? undefined : ext
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
