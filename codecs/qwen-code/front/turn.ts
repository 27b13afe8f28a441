import {
  dropped,
  type EventTable,
  invented,
  messageLine,
  scalarText,
  unwritten,
  weakened,
  writeEvent as writeByType,
} from '../../../src/codec-kit/index.ts'
import {
  addUsage,
  type EventOf,
  type Fault,
  type JsonText,
  member,
  quote,
  type Stop,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import { dropRun, endAnswer, endMessage, writeDelta } from './answer.ts'
import { VERSION } from './help.ts'
import { textBlock, thinkingBlock, writeSystem, writeUser } from './lines.ts'
import { type Ending, lastText, resultEntries } from './result.ts'
import type { Turn } from './state.ts'
import { endTool, writeLane, writeProgress, writeTool } from './tools.ts'

/** Stops of a model call that neither its content nor the `result` shows. */
const UNREPORTED: ReadonlySet<Stop | undefined> = new Set([
  'max-tokens',
  'context-window',
  'max-turns',
  'max-budget',
  'refusal',
  'content-filter',
  'stop-sequence',
])

const EVENTS: EventTable<Turn> = {
  ...unwritten('turn-accepted', 'turn-started', 'turn-parked', 'message-start', 'reasoning-end', 'citation'),
  ...unwritten('tool-start', 'tool-args-delta', 'terminal-output', 'directive', 'plan', 'ask-settled'),
  'turn-end': end,
  'step-start': startStep,
  'step-end': endStep,
  'text-delta': delta,
  'reasoning-delta': delta,
  'message-end': messageEnd,
  'message-retract': retract,
  'tool-call': (turn, event, view) => writeTool(turn, event, view, ownExt(event.ext)),
  'tool-progress': (turn, event) => writeProgress(turn, event, ownExt(event.ext)),
  'tool-end': (turn, event, view) => endTool(turn, event, view, ownExt(event.ext)),
  usage: (turn, { scope, lane, usage }) => {
    if (scope === 'call' && lane === undefined) turn.answer.usage = usage
  },
  notice,
  // The client is about to be asked, so the text so far is complete.
  ask: (turn, _, view) => endAnswer(turn, view),
  foreign: (turn, { protocol, frame }) => {
    if (protocol === PROTOCOL) writeVerbatim(turn, frame)
    else turn.lose(dropped('foreign', protocol))
  },
}

/** Writes what an event of the turn is on this wire: `init`, its messages and tools, and exactly one `result`. */
export function writeTurnEvent(turn: Turn, event: TurnEvent, view: TurnView): void {
  if (event.type === 'turn-accepted' || turn.done) return
  const extra = ownExt(event.ext)
  // The CLI asks for its servers before it greets.
  const asking = event.type === 'ask' || event.type === 'ask-settled'
  if (!turn.begun && !asking) begin(turn, event.type === 'turn-started' ? extra : undefined)
  if (event.ext && extra === undefined) turn.lose(dropped('ext', event.ext.protocol))
  writeByType(EVENTS, turn, event, view)
}

/** Writes the end of a turn that failed before it was one, or cannot be followed any more. */
export function writeFailure(turn: Turn, fault: Fault): void {
  result(turn, { outcome: 'failed', fault }, '', 0, undefined)
}

/** Writes the turn of a message that was a command, and is done: no model was called. */
export function writeDone(turn: Turn, text: string): void {
  begin(turn, undefined)
  result(turn, { outcome: 'completed' }, text, 0, undefined)
}

function begin(turn: Turn, extra: JsonText | undefined): void {
  turn.begun = true
  const { client } = turn
  const told = extra === undefined ? undefined : member(extra, 'model')
  if (told !== undefined) client.totals.model = scalarText(JSON.parse(told))
  const { model, session } = client
  if (extra === undefined && model === '') turn.lose(invented('turn-started', 'model'))
  const usual = {
    cwd: '',
    tools: [],
    mcp_servers: [],
    model,
    permission_mode: client.settings.mode,
    slash_commands: [],
    qwen_code_version: VERSION,
    agents: [],
  }
  const head = { type: '"system"', subtype: '"init"', uuid: quote(session), session_id: quote(session) }
  turn.write(messageLine(head, extra ?? JSON.stringify(usual)))
}

/** Only the main lane's assistant is shown in pieces. */
function delta(turn: Turn, event: EventOf<'text-delta' | 'reasoning-delta'>, view: TurnView): void {
  turn.retried = false
  if (event.lane !== undefined || event.text === '' || view.message(event.message)?.role !== 'assistant') return
  writeDelta(turn, event, view, ownExt(event.ext))
}

function startStep(turn: Turn, { lane }: EventOf<'step-start'>, view: TurnView): void {
  if (lane !== undefined) {
    turn.lose(dropped('step-start', 'lane'))
    return
  }
  endAnswer(turn, view)
  turn.before = turn.answer.count
}

/** A model call without output is not shown. */
function endStep(turn: Turn, { lane, stop }: EventOf<'step-end'>, view: TurnView): void {
  if (lane === undefined) {
    endAnswer(turn, view)
    if (turn.before === turn.answer.count) turn.lose(weakened('step-start'))
    turn.before = undefined
  } else turn.lose(weakened('step-end', 'lane'))
  if (UNREPORTED.has(stop)) turn.lose(weakened('step-end', 'stop'))
}

function messageEnd(turn: Turn, event: EventOf<'message-end'>, view: TurnView): void {
  const message = view.message(event.message)
  if (!message) return
  const { role, lane, text, reasoning } = message
  const extra = ownExt(event.ext)
  if (role === 'user') {
    // Messages before the first output of the agent are the client's own prompt, which this wire does not repeat.
    if (lane === undefined && turn.answer.count === 0) return
    if (lane === undefined) endAnswer(turn, view)
    writeUser(turn, textBlock(text), lane, extra)
  } else if (role !== 'assistant') turn.lose(dropped('message-end', 'role'))
  else if (lane === undefined) endMessage(turn, event, view, extra)
  else {
    if (reasoning !== '') writeLane(turn, thinkingBlock(reasoning, ''), null, lane, extra)
    if (text !== '') writeLane(turn, textBlock(text), null, lane, extra)
  }
}

function retract(turn: Turn, { lane, keepText }: EventOf<'message-retract'>, view: TurnView): void {
  if (lane !== undefined) {
    turn.lose(dropped('message-retract', 'lane'))
    return
  }
  if (!keepText) {
    dropRun(turn)
    endAnswer(turn, view)
  }
  if (turn.retried) return
  turn.retried = true
  writeSystem(turn, '"retry"', `{"reason":"retry","discardedToolCalls":0,"preserveText":${keepText}}`)
}

/** A `system` line of another agent of this dialect, or a notice in the form of one. */
function notice(turn: Turn, { code, severity, text, lane, ext }: EventOf<'notice'>): void {
  // An empty success needs no words here.
  if (code === 'empty-answer') return
  const extra = ownExt(ext) ?? '{}'
  const subtype = member(extra, 'subtype')
  if (subtype !== undefined) {
    turn.retried = code === 'retrying'
    writeSystem(turn, subtype, member(extra, 'data'))
    return
  }
  if (lane !== undefined) turn.lose(weakened('notice', 'lane'))
  writeSystem(turn, '"notice"', JSON.stringify({ severity, code, text }))
}

/** A line as another one of this dialect wrote it, under the session's id that this client knows. */
function writeVerbatim({ client, write }: Turn, frame: JsonText): void {
  const named = member(frame, 'session_id') !== undefined
  write(messageLine(named ? { session_id: quote(client.session) } : [], frame))
}

function end(turn: Turn, event: EventOf<'turn-end'>, view: TurnView): void {
  endAnswer(turn, view)
  const { totals } = turn.client
  if (view.usage) totals.usage = addUsage(totals.usage ?? {}, view.usage)
  if (event.fault?.ext) turn.lose(dropped('ext', event.fault.ext.protocol))
  // A `result` shows only the limit of model calls, and only for a turn that failed.
  const isShown = event.outcome === 'failed' && event.stop === 'max-turns'
  if (UNREPORTED.has(event.stop) && !isShown) turn.lose(weakened('end.stop'))
  result(turn, event, lastText(view), view.at - view.startedAt, ownExt(event.ext))
}

function result(turn: Turn, ending: Ending, text: string, durationMs: number, extra: JsonText | undefined): void {
  turn.done = true
  const counts = { durationMs, answers: turn.answer.count }
  turn.write(messageLine(resultEntries(ending, text, counts, turn.client, extra), extra))
}
