import { type EventTable, unwritten, writeEvent } from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  type Fault,
  type Members,
  oneLine,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { ownMember, PROTOCOL } from '../wire.ts'
import { writeBefore, writeMessageResult, writePromptResult, writeThought, writeVerbatimResult } from './before.ts'
import { closeRequest, noticeMembers, writeCancelled, writeEnd } from './ending.ts'
import type { CancelRequest, Turn } from './state.ts'
import { endTool, writeCall, writeProgress } from './tools.ts'

/** Parts of a message that are written from elsewhere: its text, its thoughts, its calls. */
const IN_MESSAGE: ReadonlySet<string> = new Set(['text', 'reasoning', 'tool-call'])

/** Events that have no line of their own in an answer of whole messages. */
const PIECES: ReadonlySet<TurnEvent['type']> = new Set(['text-delta', 'tool-start', 'tool-args-delta'])

const EVENTS: EventTable<Turn> = {
  ...unwritten('turn-started', 'turn-parked', 'step-start', 'step-end'),
  ...unwritten('reasoning-end', 'citation', 'directive', 'plan'),
  // Written before this table is asked: the beginning, and the hot path.
  ...unwritten('turn-accepted', 'text-delta'),
  'turn-end': end,
  'message-start': startMessage,
  'reasoning-delta': (turn, { message, ext }, view) => {
    turn.thoughtExt = ext
    if (turn.lines.chunked) writeThought(turn, message, view)
  },
  'message-end': endMessage,
  'message-retract': ({ answer, lines }, { keepText, message }, view) => {
    // Shown text cannot be taken back.
    if (!keepText && !answer.retract(message, view)) lines.narrow('message-retract')
  },
  'tool-start': (turn, event, view) => {
    writePromptResult(turn)
    turn.answer.toolStart?.(event, view)
  },
  'tool-args-delta': ({ answer }, event, view) => answer.toolArgs?.(event, view),
  'tool-call': writeCall,
  'tool-progress': writeProgress,
  'tool-end': endTool,
  'terminal-output': writeTerminal,
  usage: ({ answer }, { scope, usage }) => {
    if (scope === 'call') answer.usage(usage)
  },
  notice: writeNotice,
  ask: (turn, event, view) => {
    writeBefore(turn, view)
    turn.asks.ask(event)
  },
  'ask-settled': ({ asks }, { ask }) => asks.settled(ask),
  foreign: (turn, { protocol, frame }, view) => {
    writeBefore(turn, view)
    if (protocol === PROTOCOL) turn.lines.send(oneLine(frame))
    else turn.lines.drop('foreign', protocol)
  },
}

/** Writes what an event of the turn is in a structured format: the answer, the other events, and exactly one end. */
export function writeTurnEvent(turn: Turn, event: TurnEvent, view: TurnView): void {
  if (event.type === 'turn-accepted') {
    begin(turn, view.at)
    return
  }
  if (event.ext && (event.ext.protocol !== PROTOCOL || (!turn.lines.chunked && PIECES.has(event.type)))) {
    turn.lines.drop('ext', event.ext.protocol)
  }
  // A sub-agent's words would mix into the answer.
  if (event.lane !== undefined && event.type !== 'turn-end') turn.lines.drop(event.type, 'lane')
  else if (event.type === 'text-delta') {
    writePromptResult(turn)
    turn.answer.text(event, view)
  } else writeEvent(EVENTS, turn, event, view)
}

/** Writes that the turn never ran: `healthy` when the process goes on all the same. `at` is in ms since the epoch. */
export function writeRefusal(turn: Turn, reason: Fault, healthy: boolean, at: number): void {
  acknowledge(turn, false)
  if (healthy) turn.lines.recoverable(reason, at)
  else turn.lines.fatal(reason)
}

/** Writes the result of a command that ran without a turn, and the end. */
export function writeCommandDone(turn: Turn, level: 'info' | 'error', content: string, at: number): void {
  begin(turn, at)
  writeMessageResult(turn, level, content)
  closeRequest(turn.lines, 'end', at)
}

/** Writes that the request was cancelled before it ran. */
export function writeNeverRun(turn: Turn, request: CancelRequest, at: number): void {
  begin(turn, at)
  writeCancelled(turn.lines, request, true)
  closeRequest(turn.lines, 'aborted', at)
}

/** Answers those who asked to cancel. */
function acknowledge({ cancels, lines }: Turn, cancelled: boolean): void {
  for (const request of cancels.splice(0)) writeCancelled(lines, request, cancelled)
}

function begin(turn: Turn, at: number): void {
  if (turn.begun) return
  turn.begun = true
  turn.answer.begin(at)
}

function end(turn: Turn, event: EventOf<'turn-end'>, view: TurnView): void {
  begin(turn, view.at)
  if (turn.task === 'prompt') writePromptResult(turn)
  // Output until then comes before the answer to the cancel.
  if (event.outcome === 'cancelled') turn.answer.before(view)
  acknowledge(turn, event.outcome === 'cancelled')
  if (event.outcome === 'failed') writeBefore(turn, view)
  writeEnd(turn, event, view)
}

function startMessage(turn: Turn, { ext, message, role }: EventOf<'message-start'>, view: TurnView): void {
  if (ownMember(ext, 'result') !== undefined) {
    turn.answer.before(view)
    writeVerbatimResult(turn, ext)
    turn.inResult.add(message)
    turn.answered = true
  } else if (role === 'assistant') writePromptResult(turn)
  else if (role !== 'user') turn.lines.drop('message-start', 'role')
}

function endMessage(turn: Turn, event: EventOf<'message-end'>, view: TurnView): void {
  if (turn.inResult.has(event.message)) return
  const message = view.message(event.message)
  if (message?.role !== 'assistant') return
  writeThought(turn, event.message, view)
  for (const { type } of event.parts ?? []) if (!IN_MESSAGE.has(type)) turn.lines.drop(`part.${type}`)
  turn.answer.endMessage(event, view)
  if (message.text !== '') turn.answered = false
}

function writeTerminal(turn: Turn, { stream, text, ext }: EventOf<'terminal-output'>, view: TurnView): void {
  writeBefore(turn, view)
  const level = stream === 'stderr' ? '"error"' : '"info"'
  const entries: Members = {
    channel: quote(stream),
    source: ownMember(ext, 'source') ?? '"system"',
    text: quote(text),
    console_level: ownMember(ext, 'console_level') ?? level,
  }
  turn.lines.write('x-qwen-terminal', entries, ext)
}

function writeNotice(turn: Turn, event: EventOf<'notice'>, view: TurnView): void {
  if (event.code === 'empty-answer') return
  if (ownMember(event.ext, 'result') === undefined) writeBefore(turn, view)
  else turn.answer.before(view)
  if (!writeVerbatimResult(turn, event.ext)) turn.lines.write('x-qwen-session-event', noticeMembers(event), event.ext)
}
