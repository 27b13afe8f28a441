import { type Entry, type EventTable, isDropped, writeEvent } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  oneLine,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import { type AnswerWriter, type Delta, IN_MESSAGE } from './answer.ts'
import { type AskIds, FrontAsks } from './asks.ts'
import { ChunksWriter } from './chunks.ts'
import { CommandWriter } from './command.ts'
import { CompletionsWriter } from './completions.ts'
import { type CancelRequest, EndWriter, noticeMembers, writeCancelled } from './ending.ts'
import type { Lines } from './lines.ts'
import { Thoughts } from './thoughts.ts'
import { calledFrom, ToolWriter } from './tools.ts'

/** A turn of the client as its writer needs it. */
export interface Work {
  turn: Id
  task: 'prompt' | 'compact'
  /** The command that the request is, as it is repeated to the client. */
  command: JsonText | undefined
  askIds: AskIds
}

/** Writes one turn in a structured format: the answer, the other events, and exactly one end. */
export class TurnWriter {
  readonly #lines: Lines
  readonly #work: Work
  readonly #answer: AnswerWriter
  readonly #asks: FrontAsks
  readonly #command: CommandWriter
  readonly #tools: ToolWriter
  readonly #ending: EndWriter
  readonly #cancels: CancelRequest[] = []
  readonly #thoughts: Thoughts
  /** Messages that stand in the result of a command. */
  readonly #inResult = new Set<Id>()
  /** The whole answer is the result of a command. */
  #answered = false
  #begun = false

  static readonly #events: EventTable<TurnWriter> = {
    'turn-accepted': null,
    'turn-started': null,
    'turn-parked': null,
    'turn-end': (writer, event, view) => writer.#end(event, view),
    'step-start': null,
    'step-end': null,
    'message-start': (writer, event, view) => writer.#startMessage(event, view),
    // The hot path: written before.
    'text-delta': null,
    'reasoning-delta': (writer, { message }, view) => {
      if (writer.#lines.chunked) writer.#thoughts.show(message, view)
    },
    'reasoning-end': null,
    'message-end': (writer, event, view) => writer.#endMessage(event, view),
    'message-retract': (writer, { keepText, message }, view) => {
      if (!keepText && !writer.#answer.retract(message, view)) writer.#lines.report(SHOWN)
    },
    'tool-start': (writer, event, view) => {
      writer.#command.prompt()
      writer.#tools.start(event, view)
    },
    'tool-args-delta': (writer, event, view) => writer.#answer.toolArgs(event, view),
    'tool-call': (writer, event, view) => writer.#call(event, view),
    'tool-progress': (writer, event, view) => {
      writer.#before(view)
      writer.#tools.progress(event, view)
    },
    'tool-end': (writer, event, view) => writer.#endTool(event, view),
    'terminal-output': (writer, event, view) => {
      writer.#before(view)
      writer.#terminal(event)
    },
    directive: null,
    plan: null,
    usage: (writer, event) => writer.#count(event),
    notice: (writer, event, view) => writer.#notice(event, view),
    ask: (writer, event, view) => {
      writer.#before(view)
      writer.#asks.ask(event)
    },
    'ask-settled': (writer, { ask }) => writer.#asks.settled(ask),
    foreign: (writer, { protocol, frame }, view) => {
      writer.#before(view)
      if (protocol === PROTOCOL) writer.#lines.send(oneLine(frame))
      else writer.#lines.drop('foreign', protocol)
    },
  }

  constructor(ports: FrontPorts, lines: Lines, work: Work) {
    this.#lines = lines
    this.#work = work
    this.#answer = lines.chunked ? new ChunksWriter(lines) : new CompletionsWriter(lines)
    this.#thoughts = new Thoughts(lines, this.#answer)
    this.#tools = new ToolWriter(lines, this.#answer)
    this.#asks = new FrontAsks(ports, lines, work.turn, work.askIds)
    this.#command = new CommandWriter(lines, work.command)
    this.#ending = new EndWriter(lines, this.#answer, work.task === 'compact' ? this.#command : undefined)
  }

  get asks(): FrontAsks {
    return this.#asks
  }

  /** A client asked to cancel it; the answer is written when it has its end. */
  cancel(request: CancelRequest): void {
    this.#cancels.push(request)
  }

  /** Writes what an event of the turn is on this wire. */
  encode(event: TurnEvent, view: TurnView): void {
    if (event.type === 'text-delta') {
      this.#delta(event, view)
      return
    }
    if (event.type === 'turn-accepted') {
      this.#begin(view.at)
      return
    }
    if (event.ext && event.ext.protocol !== PROTOCOL) this.#lines.drop('ext', event.ext.protocol)
    // A sub-agent's words would mix into the answer.
    if (event.lane !== undefined && event.type !== 'turn-end') this.#lines.drop(event.type, 'lane')
    else writeEvent(TurnWriter.#events, this, event, view)
  }

  /** The turn never ran: `healthy` when the process goes on all the same. `at` is milliseconds since the epoch. */
  refuse(reason: Fault, healthy: boolean, at: number): void {
    this.#acknowledge(false)
    if (healthy) this.#lines.recoverable(reason, at)
    else this.#lines.fatal(reason)
  }

  /** The request was a command that ran without a turn: its result, and the end. */
  commandDone(level: 'info' | 'error', content: string, at: number): void {
    this.#begin(at)
    this.#command.message(level, content)
    this.#ending.close('end', at)
  }

  /** The request was cancelled before it ran. */
  cancelled(request: CancelRequest, at: number): void {
    this.#begin(at)
    writeCancelled(this.#lines, request, true)
    this.#ending.close('aborted', at)
  }

  /** Answers those who asked to cancel. */
  #acknowledge(cancelled: boolean): void {
    for (const request of this.#cancels.splice(0)) writeCancelled(this.#lines, request, cancelled)
  }

  #begin(at: number): void {
    if (this.#begun) return
    this.#begun = true
    this.#answer.begin(at)
  }

  #end(event: EventOf<'turn-end'>, view: TurnView): void {
    this.#begin(view.at)
    if (this.#work.task === 'prompt') this.#command.prompt()
    // What was said until then belongs before the answer to whoever cancelled.
    if (event.outcome === 'cancelled') this.#answer.before(view)
    this.#acknowledge(event.outcome === 'cancelled')
    if (event.outcome === 'failed') this.#before(view)
    this.#ending.write(event, view, this.#answered)
  }

  #delta(event: Delta, view: TurnView): void {
    if (event.ext && event.ext.protocol !== PROTOCOL) this.#lines.drop('ext', event.ext.protocol)
    if (event.lane !== undefined) this.#lines.drop('text-delta', 'lane')
    else {
      this.#command.prompt()
      this.#answer.text(event, view)
    }
  }

  /** Writes what waits before a line that follows it: the command's result, the message before, its thoughts. */
  #before(view: TurnView): void {
    this.#command.prompt()
    this.#answer.before(view)
    this.#thoughts.flush(view)
  }

  #startMessage(event: EventOf<'message-start'>, view: TurnView): void {
    if (ownMember(event.ext, 'result') !== undefined) {
      this.#answer.before(view)
      this.#command.verbatim(event.ext)
      this.#inResult.add(event.message)
      this.#answered = true
    } else if (event.role === 'assistant') this.#command.prompt()
    else if (event.role !== 'user') this.#lines.drop('message-start', 'role')
  }

  #endMessage(event: EventOf<'message-end'>, view: TurnView): void {
    if (this.#inResult.has(event.message)) return
    const message = view.message(event.message)
    if (message?.role !== 'assistant') return
    this.#thoughts.show(event.message, view)
    for (const part of event.parts ?? []) {
      if (!IN_MESSAGE.has(part.type)) this.#lines.drop(`part.${part.type}`)
    }
    this.#answer.endMessage(event, view)
    if (message.text !== '') this.#answered = false
  }

  /** The call, with what comes before it; the message it belongs to may still be open. */
  #call(event: Parameters<ToolWriter['call']>[0], view: TurnView): void {
    this.#command.prompt()
    this.#thoughts.flush(view)
    this.#tools.call(event, view)
  }

  #endTool(event: EventOf<'tool-end'>, view: TurnView): void {
    const known = view.tool(event.tool)
    if (known && isDropped(known)) {
      this.#tools.drop(event.tool)
      return
    }
    const missed = this.#tools.misses(event.tool) ? calledFrom(event.tool, view) : undefined
    if (missed) this.#call(missed, view)
    this.#before(view)
    this.#tools.end(event, view)
  }

  #terminal({ stream, text, ext }: EventOf<'terminal-output'>): void {
    const level = stream === 'stderr' ? '"error"' : '"info"'
    const entries: Entry[] = [
      ['channel', quote(stream)],
      ['source', ownMember(ext, 'source') ?? '"system"'],
      ['text', quote(text)],
      ['console_level', ownMember(ext, 'console_level') ?? level],
    ]
    this.#lines.write('x-qwen-terminal', entries, ext)
  }

  #count({ scope, usage }: EventOf<'usage'>): void {
    if (scope === 'call') this.#answer.usage(usage)
  }

  #notice(event: EventOf<'notice'>, view: TurnView): void {
    if (event.code === 'empty-answer') return
    if (ownMember(event.ext, 'result') === undefined) this.#before(view)
    else this.#answer.before(view)
    if (!this.#command.verbatim(event.ext)) {
      this.#lines.write('x-qwen-session-event', noticeMembers(event), event.ext)
    }
  }
}

/** Shown text cannot be taken back. */
const SHOWN: Loss = { kind: 'weakened', item: 'message-retract', why: 'too-narrow', count: 1 }
