import { type DeltaShape, TurnEmitter } from '../../src/codec-kit/index.ts'
import type { BackPorts, WireText } from '../../src/contract/index.ts'
import { type Ext, type Fault, fault, type Id, type Item, type TextRun } from '../../src/model/index.ts'
import type { AgentProcOptions } from './options.ts'
import type { AnswerReader } from './process-turn.ts'
import { INVALID_SESSION } from './session.ts'
import { type AgentLine, isCutOff, isSessionId, type PartialEvent, type ReadLine } from './v04/schema.ts'
import { otherWire, type TypedVersion } from './versions.ts'

/** A permission request of an agent. */
export type PermissionEvent = Extract<AgentLine, { type: 'permission_request' }>

/** The results of a reply besides its events. */
export interface ReplyHost {
  ports: BackPorts
  /** A permission request with a valid id. */
  permission(event: PermissionEvent, ext: ReadLine['ext'], line: string): void
  /** The agent has reported a failure: later questions are ignored. */
  failed(): void
}

/** Makes the reader of one run. */
export type TypedReplyClass = new (turn: Id, options: AgentProcOptions, host: ReplyHost) => TypedReply

const CUT_OFF = fault('agent-crashed', 'The agent ended in the middle of an event; see its stderr in the gateway log.')

/**
 * Reads the stdout of one run of an agent of wire 0.3 or 0.4 as events of its turn: the part that both wires share.
 * Partials are deltas of one message; the wires differ in what ends it.
 */
export abstract class TypedReply<Read = unknown> implements AnswerReader {
  abstract readonly version: TypedVersion
  protected readonly out: TurnEmitter
  protected readonly options: AgentProcOptions
  protected readonly host: ReplyHost
  /** The reason why lines were not understood as events. */
  #strange: Fault | undefined
  #understood = false
  /** The text of the partials that are no thinking. */
  protected shown = ''
  error: string | undefined
  session: string | undefined
  ext: Ext | undefined
  /** The last line is the beginning of an event: the agent was cut off. */
  #cut = false

  constructor(turn: Id, options: AgentProcOptions, host: ReplyHost) {
    this.out = new TurnEmitter(host.ports, turn)
    this.options = options
    this.host = host
  }

  /** True when the answer is there: the turn is over, whatever the process does from here on. */
  get answered(): boolean {
    return false
  }

  abstract get blank(): boolean

  /** Reads a line as an event of this wire; undefined when it is not one. */
  protected abstract read(line: string): Read | undefined

  /** Takes an event, with its line. */
  protected abstract take(read: Read, line: string): void

  /** One line of stdout. */
  line(line: string): void {
    const read = this.read(line)
    this.#cut = !read && isCutOff(line)
    if (!read) {
      this.#malformed(line)
      return
    }
    this.#understood = true
    this.take(read, line)
  }

  /** Pieces of the answer in a row; absent when a wire has its pieces read one by one. */
  texts?(wire: WireText): TextRun | undefined

  /** Ends the message with its whole text. */
  abstract close(): void

  /** The agent was cut off, or printed lines that are no events of this wire. */
  get incomplete(): Fault | undefined {
    if (this.#cut) return CUT_OFF
    return this.#understood ? undefined : this.#strange
  }

  /** A line was none. The client gets a notice of the first, and of the first that belongs to another wire. */
  #malformed(line: string): void {
    this.report('unparsed', 'foreign')
    const other = otherWire(this.version, line)
    if (other && this.#strange?.message !== other.message) this.warn('other-wire', other.message)
    else if (!this.#strange) {
      this.warn('malformed-line', `The agent printed lines that are no AgentProc ${this.version} events; ignored.`)
    }
    this.#strange = other ?? this.#strange ?? unreadable(this.version)
  }

  /** A piece of the answer, or of the thinking before it. */
  protected partial({ text, role }: PartialEvent, ext: ReadLine['ext']): void {
    if (text === '') return
    if (!this.options.streaming || this.error !== undefined) {
      this.report('dropped', 'text-delta', 'partial')
      return
    }
    const type = role === 'thinking' ? 'reasoning-delta' : 'text-delta'
    if (type === 'text-delta') this.shown += text
    const of = { type, turn: this.out.turn, message: this.out.message ?? this.out.openMessage(), text } as const
    this.out.ports.emit(ext ? { ...of, ext } : of)
  }

  /** Pieces of the answer that stand in a row on the wire. */
  protected partials(shape: DeltaShape, wire: WireText): TextRun | undefined {
    const texts = this.options.streaming && this.error === undefined ? shape.textsIn(wire) : []
    if (texts.length === 0) return undefined
    this.#understood = true
    this.#cut = false
    const run = this.out.run(texts)
    this.shown += run.text
    return run
  }

  protected permission(event: PermissionEvent, ext: ReadLine['ext'], line: string): void {
    if (!this.options.permission) {
      this.report('dropped', 'ask', 'permission_request')
      this.warn('permission-off', 'The agent asked for a permission, which its configuration has off; unanswered.')
    } else if (/^\S+$/.test(event.request_id)) this.host.permission(event, ext, line)
    else {
      this.report('unparsed', 'ask', 'request_id')
      this.warn('invalid-request-id', 'The agent asked for a permission without a valid request_id; unanswered.')
    }
  }

  /** True for a session id that may be kept; others are reported to the client. */
  protected isSession(id: string): boolean {
    if (isSessionId(id)) return true
    this.warn('invalid-session-id', INVALID_SESSION)
    return false
  }

  /** Ends the open message, with its whole text where that is known; `revised` says that it is not the text of its deltas. */
  protected endMessage(text?: string, revised = false): void {
    if (this.out.message === undefined) this.out.openMessage()
    this.out.closeMessage(text === undefined ? undefined : [{ type: 'text', text }], undefined, revised || undefined)
  }

  protected report(kind: 'dropped' | 'unparsed', item: Item, field?: string): void {
    const why = kind === 'unparsed' ? 'unknown' : 'policy'
    this.out.report({ kind, item, ...(field && { field }), why, count: 1 })
  }

  protected warn(code: string, text: string): void {
    this.out.notice('warning', code, text)
  }
}

function unreadable(version: TypedVersion): Fault {
  const text = `The agent printed lines, and none of them is an AgentProc ${version} event; check its \`protocol\` and its command.`
  return fault('protocol-violation', text)
}
