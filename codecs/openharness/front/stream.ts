import { dropped } from '../../../src/codec-kit/index.ts'
import type { Frame } from '../../../src/contract/index.ts'
import {
  type JsonText,
  type Member,
  object,
  type Part,
  parse,
  parseObject,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { attachmentJson, isReference } from '../attachments.ts'
import { usageJson } from '../usage.ts'
import { at, oneLine, PROTOCOL, text } from '../wire.ts'
import { directiveJson, partReferences, type Report, reportLane } from './directives.ts'

type Of<T extends TurnEvent['type']> = TurnEvent & { type: T }

/** An event of the streaming profile before it is framed: its name and the members of its data. */
type Shown = readonly [name: string, data: JsonText] | undefined

/** Pieces of text or thought: most of a stream. */
type Delta = Of<'text-delta' | 'reasoning-delta'>

type Encoders = {
  readonly [T in Exclude<TurnEvent['type'], Delta['type']>]: (event: Of<T>, view: TurnView, report: Report) => Shown
}

const nothing = (): undefined => undefined

/** The streaming profile: what each event of a turn is shown as before the closing `response`. */
const ENCODERS: Encoders = {
  'turn-accepted': nothing,
  'turn-started': nothing,
  'turn-parked': nothing,
  'turn-end': nothing,
  'step-start': nothing,
  'step-end': nothing,
  'reasoning-end': nothing,
  'terminal-output': nothing,
  plan: nothing,
  // An open question is shown by the `response` that parks its turn; until the next request nobody can settle it here.
  ask: nothing,
  'ask-settled': nothing,
  'message-start': ({ message, role, phase, lane }) =>
    shown('message_start', [
      ['message', quote(message)],
      ['role', quote(role)],
      ['phase', text(phase)],
      ['lane', text(lane)],
    ]),
  'message-end': (event, view, report) => messageEnd(event, view, report),
  'message-retract': ({ message, keepText, lane }) =>
    shown('message_retract', [
      ['message', quote(message)],
      ['keep_text', String(keepText)],
      ['lane', text(lane)],
    ]),
  'tool-start': ({ tool, message, name, kind, title, executor, lane }) =>
    shown('tool_start', [
      ['tool', quote(tool)],
      ['message', text(message)],
      ['name', quote(name)],
      ['kind', text(kind)],
      ['title', text(title)],
      ['executor', quote(executor)],
      ['lane', text(lane)],
    ]),
  'tool-args-delta': ({ tool, text: piece, lane }) =>
    shown('tool_args_delta', [
      ['tool', quote(tool)],
      ['text', quote(piece)],
      ['lane', text(lane)],
    ]),
  'tool-call': ({ tool, name, args, executor, lane }) =>
    shown('tool_call', [
      ['tool', quote(tool)],
      ['name', quote(name)],
      ['args', parse(args) === undefined ? quote(args) : args],
      ['executor', quote(executor)],
      ['lane', text(lane)],
    ]),
  'tool-progress': ({ tool, parts, lane }, _view, report) =>
    shown('tool_progress', [
      ['tool', quote(tool)],
      ['parts', partsJson(parts, report)],
      ['lane', text(lane)],
    ]),
  'tool-end': ({ tool, status, parts, lane }, _view, report) =>
    shown('tool_end', [
      ['tool', quote(tool)],
      ['status', quote(status)],
      ['parts', partsJson(parts, report)],
      ['lane', text(lane)],
    ]),
  directive: ({ action, json, lane }, _view, report) => {
    reportLane(lane, report)
    const directive = directiveJson(action, json, report)
    return directive === undefined ? undefined : ['directive', directive]
  },
  usage: ({ scope, usage, estimated, lane }) => {
    const of: Member[] = [['scope', quote(scope)]]
    if (lane !== undefined) of.push(['lane', quote(lane)])
    return ['usage', usageJson(usage, estimated === true, of)]
  },
  notice: ({ severity, code, text: said, lane }) =>
    shown('notice', [
      ['severity', quote(severity)],
      ['code', quote(code)],
      ['text', quote(said)],
      ['lane', text(lane)],
    ]),
  foreign: (event, _view, report) => foreign(event, report),
}

/** The frame that shows an event of a turn, or undefined when it has none. */
export function streamFrame(event: TurnEvent, view: TurnView, report: Report): Frame | undefined {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') return deltaFrame(event)
  const encode = ENCODERS[event.type] as (event: TurnEvent, view: TurnView, report: Report) => Shown
  const found = encode(event, view, report)
  return found && { event: found[0], data: oneLine(found[1]) }
}

/** The event that opens a stream: which turn, session and agent it is about. */
export function openingFrame(view: TurnView): Frame {
  const data = object([
    ['turn', quote(view.turn)],
    ['session', quote(view.session)],
    ['agent', quote(view.agent)],
  ])
  return { event: 'turn', data }
}

function shown(name: string, entries: Iterable<readonly [string, JsonText | undefined]>): Shown {
  return [name, object(entries)]
}

/** Nothing but quoted strings is in it, so that it is on one line already. */
function deltaFrame(event: Delta): Frame {
  const lane = event.lane === undefined ? '' : `,"lane":${quote(event.lane)}`
  return {
    event: event.type === 'text-delta' ? 'text_delta' : 'reasoning_delta',
    data: `{"message":${quote(event.message)},"text":${quote(event.text)}${lane}}`,
  }
}

/** A message that was not streamed is shown here; of one that was, only its end, unless there is more than its text. */
function messageEnd({ message, parts, lane }: Of<'message-end'>, view: TurnView, report: Report): Shown {
  const known = view.message(message)
  const attachments = partReferences(parts ?? [], view, report)
  const thoughts = known?.thought ? 0 : (parts ?? []).filter(({ type }) => type === 'reasoning').length
  if (thoughts > 0) report({ kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: thoughts })
  return shown('message_end', [
    ['message', quote(message)],
    ['text', known?.streamed && attachments.length === 0 ? undefined : text(known?.text || undefined)],
    ['attachments', attachments.length === 0 ? undefined : `[${attachments.join(',')}]`],
    ['lane', text(lane)],
  ])
}

function partsJson(parts: readonly Part[], report: Report): JsonText {
  return `[${parts.flatMap((part) => partJson(part, report) ?? []).join(',')}]`
}

function partJson(part: Part, report: Report): JsonText | undefined {
  if (part.type === 'text') return `{"type":"text","text":${quote(part.text)}}`
  if (part.type === 'diff') {
    const { path, before, after } = part
    return JSON.stringify({ type: 'diff', path, before, after })
  }
  if (part.type === 'data' && parse(part.json) !== undefined) {
    return object([
      ['type', '"data"'],
      ['json', part.json],
      ['mime_type', text(part.mime)],
    ])
  }
  if (isReference(part)) return `{"type":${quote(part.type)},${attachmentJson(part).slice(1)}`
  report(dropped(`part.${part.type}`))
  return undefined
}

/** An event that our back did not know, back on the same wire. */
function foreign({ protocol, frame }: Of<'foreign'>, report: Report): Shown {
  const name = protocol === PROTOCOL ? parseObject(frame)?.['event'] : undefined
  if (typeof name === 'string' && name !== 'response') return [name, at(frame, 'data') ?? '{}']
  report(dropped('foreign', protocol))
  return undefined
}

/** An unknown event of the streaming profile, as it travels: `{"event":…,"data":…}`. */
export function foreignFrame(name: string, data: string): string {
  return object([
    ['event', quote(name)],
    ['data', parse(data) === undefined ? quote(data) : data],
  ])
}
