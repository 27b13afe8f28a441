import type { Entry } from '../../../src/codec-kit/index.ts'
import { type EventTable, weakened, writeEvent } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type Ext,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  oneLine,
  type Part,
  quote,
  type Role,
  type Stop,
  type TurnEnd,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { contentOf, textBlock } from '../content.ts'
import { faultOfText } from '../errors.ts'
import { PROTOCOL, timeText } from '../wire.ts'
import { Lines, noticeLine } from './lines.ts'
import { ToolWriter } from './tools.ts'
import type { UsageWriter } from './usage.ts'

/** A prompt or compact of the client. `id` is its own. */
export interface Work {
  command: 'prompt' | 'compact'
  id: string | undefined
  exchange: Id
  input: readonly Part[]
  /** It is all that the program does: nothing responds to a command, and an error is the last line. */
  alone?: true
}

type Event<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>

const STOPS: Readonly<Record<Stop, string>> = {
  end: 'end_turn',
  'stop-sequence': 'end_turn',
  refusal: 'end_turn',
  'content-filter': 'end_turn',
  'tool-use': 'tool_use',
  'max-tokens': 'length',
  'context-window': 'length',
  'max-turns': 'error',
  'max-budget': 'error',
  error: 'error',
  aborted: 'aborted',
}
/** Stops that the wire has no word of their own for. */
const NARROW: ReadonlySet<Stop> = new Set([
  'stop-sequence',
  'refusal',
  'content-filter',
  'context-window',
  'max-turns',
  'max-budget',
])

const NARROWED: Loss = weakened('step-end', 'stop', 'too-narrow')

/** Notices that a reader of this wire knows by what they stand for. */
const OWN_NOTICES: ReadonlySet<string> = new Set(['ext-display', 'ext-notify', 'agent-error', 'partial-answer'])

const TIMED = new Set(['content', 'time'])
const STOPPED = new Set(['stop'])

/** Writes one prompt or compact: its response, its events, and exactly one `done`. */
export class TurnWriter {
  readonly #lines: Lines
  readonly #tools: ToolWriter
  readonly #work: Work
  readonly #usage: UsageWriter
  #responded = false
  #promptShown: boolean
  /** The assistant message whose deltas come. */
  #streaming: Id | undefined
  #step: number | undefined
  #lastStep = 0
  #lastStop: Stop | undefined
  /** True once a single model call was counted. */
  #counted = false

  static readonly #events: EventTable<TurnWriter> = {
    'turn-accepted': null,
    'turn-started': null,
    'turn-parked': null,
    'turn-end': (writer, event, view) => {
      writer.#showPrompt(view)
      writer.#finish(event, view.text)
    },
    'step-start': (writer, { step, ext }, view) => writer.#startStep(step, ext, view),
    'step-end': (writer, { stop, ext }) => writer.#endStep(stop, undefined, ext),
    'message-start': (writer, { message, role, ext }, view) => writer.#startMessage(message, role, ext, view),
    'text-delta': (writer, event, view) => writer.#delta(event, view),
    'reasoning-delta': null,
    'reasoning-end': null,
    'message-end': (writer, event, view) => writer.#endMessage(event, view),
    'message-retract': (writer, event, view) => writer.#retract(event, view),
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
    'terminal-output': null,
    directive: null,
    plan: null,
    usage: (writer, event) => writer.#count(event),
    notice: (writer, event) => writer.#notice(event),
    ask: null,
    'ask-settled': null,
    foreign: (writer, { protocol, frame }) => {
      if (protocol === PROTOCOL) writer.#lines.send(oneLine(frame))
      else writer.#lines.drop('foreign', protocol)
    },
  }

  constructor(ports: FrontPorts, work: Work, usage: UsageWriter) {
    this.#lines = new Lines(ports, work.exchange)
    this.#tools = new ToolWriter(this.#lines)
    this.#work = work
    this.#usage = usage
    this.#promptShown = work.command === 'compact'
    this.#responded = work.alone === true
  }

  /** Writes what an event of the turn is on this wire. */
  encode(event: TurnEvent, view: TurnView): void {
    if (event.type === 'text-delta' && event.message === this.#streaming && event.ext === undefined) {
      if (event.text !== '') this.#lines.send(`{"type":"text_delta","delta":${quote(event.text)}}`)
      return
    }
    if (event.type === 'turn-accepted') return
    this.respond()
    if (event.ext && event.ext.protocol !== PROTOCOL) this.#lines.drop('ext', event.ext.protocol)
    // A sub-agent's words would mix into the answer.
    if (event.lane !== undefined && event.type !== 'turn-end') this.#lines.drop(event.type, 'lane')
    else writeEvent(TurnWriter.#events, this, event, view)
  }

  /** The response of the command: its turn has started. */
  respond(): void {
    if (this.#responded) return
    this.#responded = true
    const { id, command } = this.#work
    this.#lines.write('response', [
      ['id', id === undefined ? undefined : quote(id)],
      ['command', quote(command)],
      ['success', 'true'],
      ['data', '{"started":true}'],
    ])
  }

  /** The command failed without a turn, or its turn cannot be followed any more. Nothing may follow. */
  fail(fault: Fault): void {
    this.respond()
    this.#finish({ outcome: 'failed', fault }, '')
  }

  #notice(event: Event<'notice'>): void {
    // An empty success needs no words here.
    if (event.code === 'empty-answer') return
    if (!OWN_NOTICES.has(event.code)) this.#lines.weaken('notice.code')
    this.#lines.send(noticeLine(event))
  }

  /** The prompt as it stands in the transcript, if the agent does not say it itself. */
  #showPrompt(view: TurnView): void {
    if (this.#promptShown) return
    this.#promptShown = true
    this.#message('user_message', contentOf(this.#work.input, undefined, unreported), view)
  }

  #delta(event: Event<'text-delta' | 'reasoning-delta'>, view: TurnView): void {
    const message = view.message(event.message)
    if (message?.role !== 'assistant' || message.lane !== undefined || event.text === '') return
    this.#lines.write('text_delta', [['delta', quote(event.text)]], event.ext)
  }

  #startMessage(message: Id, role: Role, ext: Ext | undefined, view: TurnView): void {
    if (role === 'user') this.#promptShown = true
    if (role !== 'assistant') return
    this.#openStep(view)
    this.#streaming = message
    this.#lines.write('assistant_start', [], ext)
  }

  #endMessage(event: Event<'message-end'>, view: TurnView): void {
    const message = view.message(event.message)
    if (!message || message.lane !== undefined) return
    if (message.role === 'user') {
      const content = event.parts ? contentOf(event.parts, event.ext, unreported) : `[${textBlock(message.text)}]`
      this.#message('user_message', content, view, event.ext)
    } else if (message.role === 'assistant') {
      this.#streaming = undefined
      this.#tools.closeDrafts()
      if (!message.streamed && message.text !== '') this.#lines.write('text_delta', [['delta', quote(message.text)]])
      // A message without a word is not written, as an aborted or empty answer has none.
      if (event.parts === undefined && message.text === '') return
      this.#message('assistant_message', this.#content(event.parts, message.text, event.ext), view, event.ext)
    } else this.#lines.drop('message-end', 'role')
  }

  #content(parts: readonly Part[] | undefined, text: string, ext: Ext | undefined): JsonText {
    return parts ? contentOf(parts, ext, (loss) => this.#lines.report(loss)) : `[${textBlock(text)}]`
  }

  #message(type: string, content: JsonText, view: TurnView, ext?: Ext): void {
    const entries: Entry[] = [
      ['content', content],
      ['time', quote(timeText(view.at))],
    ]
    this.#lines.write(type, entries, ext, TIMED)
  }

  #retract(event: Event<'message-retract'>, view: TurnView): void {
    if (event.keepText || !view.message(event.message)?.streamed) return
    this.#lines.report(weakened('message-retract', undefined, 'too-narrow'))
  }

  #startStep(step: number, ext: Ext | undefined, view: TurnView): void {
    this.#showPrompt(view)
    if (this.#step !== undefined) this.#endStep('end', undefined)
    this.#step = step
    this.#lastStep = step
    this.#lines.write('turn_start', [['step', String(step)]], ext)
  }

  /** Backs without steps get one around what the agent says. */
  #openStep(view: TurnView): void {
    this.#showPrompt(view)
    if (this.#step === undefined) this.#startStep(this.#lastStep + 1, undefined, view)
  }

  #endStep(stop: Stop, error: string | undefined, ext?: Ext): void {
    this.#tools.closeDrafts()
    this.#step = undefined
    this.#lastStop = stop
    if (NARROW.has(stop)) this.#lines.report(NARROWED)
    const entries: Entry[] = [
      ['stop', quote(STOPS[stop])],
      ['error', error === undefined ? undefined : quote(error)],
    ]
    this.#lines.write('turn_end', entries, ext, STOPPED)
  }

  /** Model calls are counted one by one; a backend that knows only the turn's total is counted at its end. */
  #count(event: Event<'usage'>): void {
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
    if (this.#step !== undefined) {
      const stop = end.outcome === 'completed' ? (end.stop ?? 'end') : end.outcome === 'failed' ? 'error' : 'aborted'
      this.#endStep(stop, end.outcome === 'failed' ? message : undefined)
    } else if (end.outcome === 'cancelled' && this.#lastStop !== 'aborted') this.#endStep('aborted', undefined)
    this.#tools.closeDrafts()
    const said = end.fault?.ext
    if (said && said.protocol !== PROTOCOL) this.#lines.drop('ext', said.protocol)
    if (end.summary !== undefined && this.#work.command !== 'compact') this.#lines.drop('end.summary')
    if (end.outcome === 'failed' && isUntold(end.fault)) this.#lines.weaken('fault.code')
    if (end.outcome === 'failed') this.#lines.write('error', [['message', quote(message)]], said)
    else if (end.outcome === 'completed' && this.#work.command === 'compact') {
      this.#lines.write('compact_done', [['summary', quote(end.summary ?? text)]])
    }
    if (end.outcome !== 'failed' || this.#work.alone !== true) this.#lines.write('done', [], end.ext)
  }
}

/** A client knows its own prompt: what its repetition has no place for is no loss. */
function unreported(): void {}

/**
 * True when a failure of a provider would be taken for another error: its words are all that this wire has, and readers
 * know it by them. The gateway's own failures say in their words what they are.
 */
function isUntold(why: Fault | undefined): boolean {
  return why?.code.startsWith('provider-') === true && faultOfText(why.message).code !== why.code
}
