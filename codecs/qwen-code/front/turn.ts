import { type Entry, type EventTable, writeEvent } from '../../../src/codec-kit/index.ts'
import {
  addUsage,
  type Ext,
  type Fault,
  type JsonText,
  member,
  object,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import { AnswerWriter, textBlock, thinkingBlock } from './answer.ts'
import type { Lines } from './lines.ts'
import { FrontLosses } from './losses.ts'
import { type Ending, lastText, resultEntries } from './result.ts'
import { type ClientState, VERSION } from './state.ts'
import { ToolWriter } from './tools.ts'

type Event<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

/** Writes one turn: `init`, its messages and tools, and exactly one `result`. */
export class StreamWriter {
  readonly #lines: Lines
  readonly #state: ClientState
  readonly #answer: AnswerWriter
  readonly #tools: ToolWriter
  readonly #losses: FrontLosses
  #begun = false
  #done = false
  /** A `retry` line was written for the retractions that follow. */
  #retried = false

  static readonly #events: EventTable<StreamWriter> = {
    'turn-accepted': null,
    'turn-started': null,
    'turn-parked': null,
    'turn-end': (writer, event, view) => writer.#end(event, view, ownExt(event.ext)),
    'step-start': (writer, event, view) => writer.#startStep(event, view),
    'step-end': (writer, event, view) => writer.#endStep(event, view),
    'message-start': null,
    'text-delta': (writer, event, view) => writer.#delta(event, view),
    'reasoning-delta': (writer, event, view) => writer.#delta(event, view),
    'reasoning-end': null,
    'message-end': (writer, event, view) => writer.#endMessage(event, view, ownExt(event.ext)),
    'message-retract': (writer, event, view) => writer.#retract(event, view),
    'tool-start': null,
    'tool-args-delta': null,
    'tool-call': (writer, event, view) => writer.#tools.call(event, view, ownExt(event.ext)),
    'tool-progress': (writer, event) => writer.#tools.progress(event, ownExt(event.ext)),
    'tool-end': (writer, event, view) => writer.#tools.end(event, view, ownExt(event.ext)),
    'terminal-output': null,
    directive: null,
    plan: null,
    usage: (writer, { scope, lane, usage }) => {
      if (scope === 'call' && lane === undefined) writer.#answer.count(usage)
    },
    notice: (writer, event) => writer.#notice(event, ownExt(event.ext)),
    ask: (writer, _, view) => writer.flush(view),
    'ask-settled': null,
    foreign: (writer, { protocol, frame }) => {
      if (protocol === PROTOCOL) writer.#lines.verbatim(frame)
      else writer.#lines.drop('foreign', protocol)
    },
  }

  constructor(lines: Lines, state: ClientState) {
    this.#lines = lines
    this.#state = state
    // An array of whole messages has no place for pieces.
    const partial = state.args.partial && state.args.output === 'stream-json'
    this.#answer = new AnswerWriter(lines, partial, () => this.#model)
    this.#losses = new FrontLosses(lines)
    this.#tools = new ToolWriter(lines, state, this.#answer, this.#losses, () => this.#model)
  }

  /** Writes what an event of the turn is on this wire. */
  encode(event: TurnEvent, view: TurnView): void {
    if (event.type === 'turn-accepted' || this.#done) return
    const extra = ownExt(event.ext)
    // The CLI asks for its servers before it greets.
    if (this.#begun || !isAsking(event)) this.#begin(event.type === 'turn-started' ? extra : undefined)
    if (event.ext && extra === undefined) this.#lines.drop('ext', event.ext.protocol)
    writeEvent(StreamWriter.#events, this, event, view)
  }

  /** The turn failed before it was one, or cannot be followed any more. */
  fail(fault: Fault): void {
    this.#result({ outcome: 'failed', fault }, '', 0, undefined)
  }

  /** The message was a command, and it is done: no model was called. */
  cleared(text: string): void {
    this.#begin(undefined)
    this.#result({ outcome: 'completed' }, text, 0, undefined)
  }

  /** Everything that was said is complete, as far as it goes: the client is about to be asked. */
  flush(view: TurnView): void {
    this.#answer.end(view)
  }

  get #model(): string {
    return this.#state.agentModel ?? this.#state.model ?? ''
  }

  #begin(extra: JsonText | undefined): void {
    if (this.#begun) return
    this.#begun = true
    const { session, mode } = this.#state
    const told = extra === undefined ? undefined : member(extra, 'model')
    if (told !== undefined) this.#state.agentModel = String(JSON.parse(told))
    const head: Entry[] = [
      ['type', '"system"'],
      ['subtype', '"init"'],
      ['uuid', quote(session)],
      ['session_id', quote(session)],
    ]
    if (extra !== undefined) {
      this.#lines.send(head, extra)
      return
    }
    if (this.#model === '') {
      this.#lines.report({ kind: 'invented', item: 'turn-started', field: 'model', why: 'required', count: 1 })
    }
    this.#lines.send([
      ...head,
      ['cwd', '""'],
      ['tools', '[]'],
      ['mcp_servers', '[]'],
      ['model', quote(this.#model)],
      ['permission_mode', quote(mode)],
      ['slash_commands', '[]'],
      ['qwen_code_version', quote(VERSION)],
      ['agents', '[]'],
    ])
  }

  #delta(event: Event<'text-delta' | 'reasoning-delta'>, view: TurnView): void {
    this.#retried = false
    if (isAnswer(event, view)) this.#answer.delta(event, view, ownExt(event.ext))
  }

  #startStep({ lane }: Event<'step-start'>, view: TurnView): void {
    if (lane !== undefined) {
      this.#lines.drop('step-start', 'lane')
      return
    }
    this.#answer.end(view)
    this.#losses.stepStart(this.#answer.answers)
  }

  #endStep(event: Event<'step-end'>, view: TurnView): void {
    if (event.lane === undefined) this.#answer.end(view)
    this.#losses.stepEnd(event, this.#answer.answers)
  }

  #endMessage(event: Event<'message-end'>, view: TurnView, extra: JsonText | undefined): void {
    const message = view.message(event.message)
    if (!message) return
    if (message.role === 'user') {
      // What comes before the first word of the agent is the client's own prompt, which this wire does not repeat.
      if (message.lane === undefined && this.#answer.answers === 0) return
      if (message.lane === undefined) this.#answer.end(view)
      this.#lines.user(textBlock(message.text), message.lane, extra)
    } else if (message.role !== 'assistant') this.#lines.drop('message-end', 'role')
    else if (message.lane === undefined) this.#answer.endMessage(event, view, extra)
    else {
      const blocks: JsonText[] = []
      if (message.reasoning !== '') blocks.push(thinkingBlock(message.reasoning, ''))
      if (message.text !== '') blocks.push(textBlock(message.text))
      for (const block of blocks) this.#tools.laneLine(block, null, message.lane, extra)
    }
  }

  #retract(event: Event<'message-retract'>, view: TurnView): void {
    if (event.lane !== undefined) {
      this.#lines.drop('message-retract', 'lane')
      return
    }
    if (!event.keepText) {
      this.#answer.drop()
      this.#answer.end(view)
    }
    if (this.#retried) return
    this.#retried = true
    this.#retry(event.keepText)
  }

  #retry(keepText: boolean): void {
    const data = `{"reason":"retry","discardedToolCalls":0,"preserveText":${keepText}}`
    this.#lines.system('"retry"', [['data', data]])
  }

  /** A `system` line that another agent of this dialect said, or a notice in the form of one. */
  #notice(event: Event<'notice'>, extra: JsonText | undefined): void {
    // An empty success needs no words here.
    if (event.code === 'empty-answer') return
    const subtype = extra === undefined ? undefined : member(extra, 'subtype')
    if (subtype !== undefined) {
      this.#retried = event.code === 'retrying'
      this.#lines.system(subtype, [['data', member(extra!, 'data')]])
      return
    }
    if (event.lane !== undefined) this.#losses.lane('notice')
    const data = object([
      ['severity', quote(event.severity)],
      ['code', quote(event.code)],
      ['text', quote(event.text)],
    ])
    this.#lines.system('"notice"', [['data', data]])
  }

  #end(event: Event<'turn-end'>, view: TurnView, extra: JsonText | undefined): void {
    this.#answer.end(view)
    if (view.usage) this.#state.usage = addUsage(this.#state.usage ?? {}, view.usage)
    this.#faultExt(event.fault?.ext)
    this.#losses.turnEnd(event)
    this.#result(event, lastText(view), view.at - view.startedAt, extra)
  }

  #faultExt(ext: Ext | undefined): void {
    if (ext) this.#lines.drop('ext', ext.protocol)
  }

  #result(ending: Ending, text: string, durationMs: number, extra: JsonText | undefined): void {
    this.#done = true
    const counts = { durationMs, answers: this.#answer.answers }
    this.#lines.send(resultEntries(ending, text, counts, this.#state, extra), extra)
  }
}

/** True for a question, and for its end. */
function isAsking({ type }: TurnEvent): boolean {
  return type === 'ask' || type === 'ask-settled'
}

/** True for what the main lane's assistant says. */
function isAnswer(event: Event<'text-delta' | 'reasoning-delta'>, view: TurnView): boolean {
  return event.lane === undefined && event.text !== '' && view.message(event.message)?.role === 'assistant'
}
