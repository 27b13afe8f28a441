import {
  type BodyOf,
  CANCELLED,
  dropped,
  type Ending,
  failedWith,
  numberedIds,
  ToolCalls,
  TurnEmitter,
  unparsed,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  addUsage,
  type Ext,
  type Fault,
  fault,
  type Id,
  type JsonText,
  member,
  members,
  parse,
  parseObject,
  type Role,
  type Stop,
  type TurnEvent,
  type Usage,
} from '../../../src/model/index.ts'
import { ENDED, readDisplay } from '../display.ts'
import { entriesExt, unknownExt } from '../wire.ts'

/** The stop of every finish reason. */
const REASONS = wordTable<Stop>({
  stop: 'end',
  length: 'max-tokens',
  content_filter: 'content-filter',
  tool_calls: 'tool-use',
  function_call: 'tool-use',
})

const TERMINAL: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id', 'channel', 'text'])

/** A call whose arguments come in pieces. */
interface Draft {
  wireId: string
  tool: Id
  name: string
  pieces: string
}

/** One turn of the agent as canonical events; `ended` is true once it has its end. */
export class TurnDecoder extends TurnEmitter {
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked = false
  ended = false
  /** The turn has had output. */
  begun = false
  readonly #task: 'prompt' | 'compact'
  readonly #tools = new ToolCalls(numberedIds())
  /** The calls of the current round by the number that their pieces have. */
  readonly #drafts = new Map<number, Draft>()
  #called = false
  /** The tokens of its model calls, and those of the turn as the agent sums them up. */
  readonly #usage: { calls?: Usage; turn?: Usage } = {}
  #reason: string | undefined
  #spoke = false
  #summary: string | undefined

  constructor(ports: BackPorts, turn: Id, task: 'prompt' | 'compact') {
    super(ports, turn)
    this.#task = task
    this.started()
    this.begun = false
  }

  /** True when a finish reason came after which nothing has to follow. */
  get mayBeOver(): boolean {
    return this.#reason !== undefined && REASONS.get(this.#reason) !== 'tool-use'
  }

  /** A piece of text: the hot path. */
  override text(text: string, ext?: Ext): void {
    if (text === '') return
    this.begun = true
    this.#speaks()
    super.text(text, ext)
  }

  override emit(event: BodyOf<TurnEvent>, ext?: Ext): void {
    this.begun = true
    super.emit(event, ext)
  }

  /** A whole message. */
  whole(role: Role, text: string, ext: Ext | undefined): void {
    this.closeMessage()
    if (text === '') return
    if (role === 'assistant') this.#speaks()
    this.wholeText(role, text, ext)
  }

  /** A thought, as a message of its own; its subject is a heading in bold. */
  thought(subject: string, description: string, ext: Ext | undefined): void {
    const heading = subject === '' ? '' : `**${subject}**`
    const text = [heading, description].filter((piece) => piece !== '').join(' ')
    if (text === '') return
    const message = this.ports.newId()
    this.emit({ type: 'message-start', message, role: 'assistant' })
    this.emit({ type: 'reasoning-delta', message, text }, ext)
    this.emit({ type: 'message-end', message })
  }

  /** A whole call. */
  call(wireId: string, name: string, args: JsonText, ext: Ext | undefined): void {
    this.closeMessage()
    this.#called = true
    const isJson = parse(args) !== undefined
    if (!isJson) this.report(unparsed('tool-call', 'arguments'))
    const tool = this.#tools.start(wireId)
    this.emit({ type: 'tool-call', tool, name, args: isJson ? args : '{}', executor: 'agent' }, ext)
  }

  /** A piece of a call: the first one of its number names it. Some providers repeat its id on every piece. */
  callPiece(
    { index, id, name }: { index: number; id: string | undefined; name: string | null | undefined },
    text: string,
    ext: Ext | undefined,
  ): void {
    this.closeMessage()
    let draft = this.#drafts.get(index)
    let further = ext
    if (!draft || (id !== undefined && draft.wireId !== id)) {
      if (name == null) {
        this.report(unparsed('tool-args-delta'))
        return
      }
      const wireId = id ?? this.ports.newId()
      draft = { wireId, tool: this.#tools.start(wireId), name, pieces: '' }
      this.#drafts.set(index, draft)
      this.#called = true
      this.emit({ type: 'tool-start', tool: draft.tool, name, executor: 'agent' }, ext)
      further = undefined
    }
    draft.pieces += text
    if (text !== '') this.emit({ type: 'tool-args-delta', tool: draft.tool, text }, further)
    else if (further) this.report(dropped('ext', further.protocol))
  }

  /** The round of calls is over: those that came in pieces are whole. */
  endCalls(): void {
    const drafts = [...this.#drafts.values()]
    this.#drafts.clear()
    for (const { tool, name, pieces } of drafts) {
      const args = parse(pieces) === undefined ? '{}' : pieces
      this.emit({ type: 'tool-call', tool, name, args, executor: 'agent' })
    }
  }

  /** The call that runs under this id, which may have a prefix `call_` that the call itself has not. */
  running(wireId: string): Id | undefined {
    return this.#tools.running(wireId) ?? this.#tools.running(wireId.replace(/^call_/, ''))
  }

  /** Reads the display of a tool (`json`); false when there is no such call. */
  display(wireId: string, status: string, json: JsonText | undefined, ext: Ext | undefined): boolean {
    this.endCalls()
    const tool = this.running(wireId)
    if (tool === undefined) return false
    const { parts, exact } = readDisplay(json)
    const all = exact ? ext : entriesExt({ result_display: json }, members(ext?.json ?? '{}'))
    const end = ENDED.get(status.toLowerCase())
    if (end) {
      if (this.#tools.end(wireId) === undefined) this.#tools.end(wireId.replace(/^call_/, ''))
      this.emit({ type: 'tool-end', tool, status: end, parts }, all)
    } else if (parts.length > 0) this.emit({ type: 'tool-progress', tool, parts }, all)
    return true
  }

  /** The usage of one model call. */
  countCall(usage: Usage | undefined): void {
    if (!usage) return
    this.#usage.calls = addUsage(this.#usage.calls ?? {}, usage)
    this.emit({ type: 'usage', scope: 'call', usage })
  }

  /** The usage of the turn, as the agent sums it up. */
  countTurn(usage: Usage | undefined): void {
    if (usage) this.#usage.turn = usage
  }

  /** A finish reason that does not end the turn by itself. */
  reason(reason: string): void {
    this.#reason = reason
  }

  /** The transcript was compacted; what the agent says of it is the summary, until a result says more. */
  compressed(text: string): void {
    this.#summary ??= text
  }

  /** Output of a terminal; `json` is the message or annotation that it came with. */
  terminal(json: JsonText, text: string): void {
    if (text === '') return
    const stream = member(json, 'channel') === '"stderr"' ? 'stderr' : 'stdout'
    this.emit({ type: 'terminal-output', stream, text }, unknownExt(json, parseObject(json)!, TERMINAL))
  }

  /** The turn is over: for this stop, or for that of the last finish reason. */
  finish(stop: Stop | undefined, ext?: Ext): void {
    this.closeMessage()
    if (this.cancelAsked || stop === 'aborted') {
      // A call whose arguments were still coming was dropped.
      this.#end(CANCELLED, ext)
      return
    }
    this.endCalls()
    if (!this.#spoke && this.#summary === undefined && this.#reason === undefined && !this.#called) {
      this.fail(fault('protocol-violation', 'The agent ended the turn without any answer.'))
      return
    }
    if (!this.#spoke && this.#task === 'prompt') {
      this.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
    }
    const summary = this.#task === 'compact' && this.#summary !== undefined ? { summary: this.#summary } : {}
    const reason = REASONS.get(this.#reason ?? 'stop') ?? 'end'
    this.#end({ outcome: 'completed', stop: stop ?? reason, ...summary }, ext)
  }

  /** The turn failed, or its process is gone. */
  fail(reason: Fault): void {
    this.closeMessage()
    this.#end(this.cancelAsked || reason.code === 'cancelled' ? CANCELLED : failedWith(reason))
  }

  /** The result of a command: a message that is its answer. */
  commandResult(text: string, ext: Ext | undefined): void {
    this.closeMessage()
    this.#spoke = true
    this.#summary = text
    if (this.#task === 'compact') return
    this.wholeText('assistant', text, undefined, ext)
  }

  /** Text of the answer. After it the calls before it are not what the turn ended with. */
  #speaks(): void {
    this.#spoke = true
    if (this.#reason !== undefined && !this.mayBeOver) this.#reason = undefined
  }

  #end(end: Ending, ext?: Ext): void {
    const usage = this.#usage.turn ?? this.#usage.calls
    if (usage) this.emit({ type: 'usage', scope: 'turn', usage })
    this.ended = true
    this.emit({ type: 'turn-end', ...end }, ext)
  }
}
