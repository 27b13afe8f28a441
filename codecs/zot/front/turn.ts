import { dropped, type EventTable, losesCode, unwritten, weakened, writeEvent } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type EventOf,
  type Fault,
  type Id,
  oneLine,
  quote,
  type TextRun,
  type TurnEnd,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { PROTOCOL } from '../wire.ts'
import { Lines, noticeLine, success } from './lines.ts'
import { MessageWriter } from './messages.ts'
import type { Prompt } from './start.ts'
import { StepWriter } from './steps.ts'
import { ToolWriter } from './tools.ts'
import type { UsageWriter } from './usage.ts'

/** Notices that a reader of this wire knows by what they stand for. */
const OWN_NOTICES: ReadonlySet<string> = new Set(['ext-display', 'ext-notify', 'agent-error', 'partial-answer'])

/** Writes one prompt or compact: its response, its events, and exactly one `done`. */
export class TurnWriter {
  readonly #lines: Lines
  readonly #tools: ToolWriter
  readonly #steps: StepWriter
  readonly #messages: MessageWriter
  readonly #prompt: Prompt
  readonly #alone: boolean
  readonly #usage: UsageWriter
  #responded = false
  /** True once a single model call was counted. */
  #counted = false

  static readonly #events: EventTable<TurnWriter> = {
    ...unwritten('turn-accepted', 'turn-started', 'turn-parked', 'reasoning-delta', 'reasoning-end', 'citation'),
    ...unwritten('terminal-output', 'directive', 'plan', 'ask', 'ask-settled'),
    'turn-end': (writer, event, view) => {
      writer.#messages.showPrompt(view)
      writer.#finish(event, view.text)
    },
    'step-start': (writer, { step, ext }, view) => {
      writer.#messages.showPrompt(view)
      writer.#steps.start(step, ext)
    },
    'step-end': (writer, { stop, ext }) => writer.#steps.end(stop, undefined, ext),
    'message-start': (writer, { message, role, ext }, view) => {
      if (role === 'user') writer.#messages.skipPrompt()
      if (role !== 'assistant') return
      writer.#openStep(view)
      writer.#messages.start(message, ext)
    },
    'text-delta': (writer, event, view) => writer.#messages.delta(event, view),
    'message-end': (writer, event, view) => writer.#messages.end(event, view),
    'message-retract': (writer, event, view) => writer.#messages.retract(event, view),
    'tool-start': (writer, event, view) => {
      writer.#openStep(view)
      writer.#tools.start(event)
    },
    'tool-args-delta': (writer, event) => writer.#tools.args(event),
    'tool-call': (writer, { tool, name, args, ext }, view) => {
      writer.#openStep(view)
      writer.#tools.call(tool, name, args, ext)
    },
    'tool-progress': (writer, event) => writer.#tools.progress(event),
    'tool-end': (writer, event, view) => writer.#tools.end(event, view),
    usage: (writer, event) => writer.#count(event),
    notice: (writer, event) => writer.#notice(event),
    foreign: (writer, { protocol, frame }) => {
      if (protocol === PROTOCOL) writer.#lines.send(oneLine(frame))
      else writer.#lines.report(dropped('foreign', protocol))
    },
  }

  /** `alone`: the turn is all that the program does: commands get no response, and an error is the last line. */
  constructor(ports: FrontPorts, exchange: Id, prompt: Prompt, usage: UsageWriter, alone?: 'alone') {
    this.#lines = new Lines(ports, exchange)
    this.#tools = new ToolWriter(this.#lines)
    this.#prompt = prompt
    this.#usage = usage
    this.#steps = new StepWriter(this.#lines, this.#tools)
    const shown = prompt.command === 'compact' ? undefined : prompt.input
    this.#messages = new MessageWriter(this.#lines, this.#tools, shown)
    this.#alone = alone !== undefined
    this.#responded = this.#alone
  }

  /** Writes what an event of the turn is on this wire. */
  encode(event: TurnEvent, view: TurnView): void {
    if (event.type === 'text-delta' && event.message === this.#messages.streaming && event.ext === undefined) {
      if (event.text !== '') this.#lines.send(`{"type":"text_delta","delta":${quote(event.text)}}`)
      return
    }
    if (event.type === 'turn-accepted') return
    this.respond()
    if (event.ext && event.ext.protocol !== PROTOCOL) this.#lines.report(dropped('ext', event.ext.protocol))
    // A sub-agent's words would mix into the answer.
    if (event.lane !== undefined && event.type !== 'turn-end') this.#lines.report(dropped(event.type, 'lane'))
    else writeEvent(TurnWriter.#events, this, event, view)
  }

  /** Writes pieces of text. */
  texts(run: TextRun, view: TurnView): void {
    if (run.message === this.#messages.streaming) this.#lines.deltas(run)
    else for (const event of run.events) this.encode(event, view)
  }

  /** The response of the command: its turn has started. */
  respond(): void {
    if (this.#responded) return
    this.#responded = true
    this.#lines.send(success(this.#prompt, '{"started":true}'))
  }

  /** The command failed without a turn, or its turn cannot be followed any more. Nothing may follow. */
  fail(fault: Fault): void {
    this.respond()
    this.#finish({ outcome: 'failed', fault }, '')
  }

  #notice(event: EventOf<'notice'>): void {
    // An empty success needs no words here.
    if (event.code === 'empty-answer') return
    if (!OWN_NOTICES.has(event.code)) this.#lines.report(weakened('notice.code'))
    this.#lines.send(noticeLine(event))
  }

  #openStep(view: TurnView): void {
    this.#messages.showPrompt(view)
    this.#steps.open()
  }

  /** Model calls are counted one by one; a backend that knows only the turn's total is counted at its end. */
  #count(event: EventOf<'usage'>): void {
    if (event.scope === 'call' || !this.#counted) {
      this.#counted ||= event.scope === 'call'
      this.#tools.closeDrafts()
      const line = this.#usage.line(event.usage, event.ext, (loss) => this.#lines.report(loss))
      if (line !== undefined) this.#lines.send(line)
    }
  }

  /** Everything that ends a turn: the open model call, the failure's `error`, the summary, `done`. */
  #finish(end: Pick<TurnEnd, 'outcome' | 'stop' | 'fault' | 'summary' | 'ext'>, text: string): void {
    const message = end.fault?.message ?? 'The turn failed.'
    if (this.#steps.running) {
      const stop = end.outcome === 'completed' ? (end.stop ?? 'end') : end.outcome === 'failed' ? 'error' : 'aborted'
      this.#steps.end(stop, end.outcome === 'failed' ? message : undefined)
    } else if (end.outcome === 'cancelled' && this.#steps.stop !== 'aborted') this.#steps.end('aborted')
    this.#tools.closeDrafts()
    const said = end.fault?.ext
    if (said && said.protocol !== PROTOCOL) this.#lines.report(dropped('ext', said.protocol))
    if (end.summary !== undefined && this.#prompt.command !== 'compact') this.#lines.report(dropped('end.summary'))
    if (end.outcome === 'failed' && losesCode(end.fault)) this.#lines.report(weakened('fault.code'))
    if (end.outcome === 'failed') this.#lines.write('error', { message: quote(message) }, said)
    else if (end.outcome === 'completed' && this.#prompt.command === 'compact') {
      this.#lines.write('compact_done', { summary: quote(end.summary ?? text) })
    }
    if (end.outcome !== 'failed' || !this.#alone) this.#lines.write('done', {}, end.ext)
  }
}
