import { dropped, type EventTable, type Report, unwritten, writeEvent } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  asJson,
  type EventOf,
  type Id,
  type JsonText,
  object,
  type Part,
  parse,
  parseObject,
  quote,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { attachmentJson, isReference } from '../attachments.ts'
import { usageJson } from '../usage.ts'
import { at, oneLine, PROTOCOL } from '../wire.ts'
import { directiveJson, partReferences, reportLane } from './directives.ts'

/** The streaming profile: what each event of a turn is shown as before the closing `response`. */
const EVENTS: EventTable<StreamWriter> = {
  ...unwritten('turn-accepted', 'turn-started', 'turn-parked', 'turn-end', 'step-start', 'step-end'),
  ...unwritten('terminal-output', 'plan', 'reasoning-end', 'citation'),
  // An open question is shown by the `response` that parks its turn; it cannot be settled here before the next request.
  ...unwritten('ask', 'ask-settled'),
  'text-delta': (writer, event, view) => writer.delta(view, 'text_delta', event),
  'reasoning-delta': (writer, event, view) => writer.delta(view, 'reasoning_delta', event),
  'message-start': members('message_start', ['message', 'role', 'phase', 'lane']),
  'message-end': (writer, event, view) => writer.show(view, 'message_end', messageEnd(event, view, writer.report)),
  'message-retract': members('message_retract', ['message', 'keepText', 'lane']),
  'tool-start': members('tool_start', ['tool', 'message', 'name', 'kind', 'title', 'executor', 'lane']),
  'tool-args-delta': members('tool_args_delta', ['tool', 'text', 'lane']),
  'tool-call': members('tool_call', ['tool', 'name', 'args', 'executor', 'lane'], {
    args: ({ args }) => asJson(args),
  }),
  'tool-progress': members<EventOf<'tool-progress'>>('tool_progress', ['tool', 'parts', 'lane'], { parts: partsJson }),
  'tool-end': members<EventOf<'tool-end'>>('tool_end', ['tool', 'status', 'parts', 'lane'], { parts: partsJson }),
  directive: (writer, { action, json, lane }, view) => {
    reportLane(lane, writer.report)
    const directive = directiveJson(action, json, writer.report)
    if (directive !== undefined) writer.show(view, 'directive', oneLine(directive))
  },
  usage: (writer, { scope, usage, estimated, lane }, view) => {
    writer.show(view, 'usage', usageJson(usage, estimated === true, { scope: quote(scope), lane: quote(lane) }))
  },
  notice: members('notice', ['severity', 'code', 'text', 'lane']),
  foreign: (writer, event, view) => foreign(writer, event, view),
}

/** Writes the streaming profile of one exchange. */
export class StreamWriter {
  readonly #ports: FrontPorts
  readonly #exchange: Id
  /** The shell knows the id of the turn. */
  #introduced = false
  /** The message of the last piece, and how the JSON of its pieces begins. */
  #message: Id | undefined
  #head = ''
  /** Something was written: a failure can no longer be a plain error body. */
  opened = false
  /** Receives what the profile has no place for. */
  readonly report: Report = (loss) => this.#ports.report(loss, this.#exchange)

  constructor(ports: FrontPorts, exchange: Id) {
    this.#ports = ports
    this.#exchange = exchange
  }

  /** Writes what an event of the turn is in this profile, if anything. */
  write(event: TurnEvent, view: TurnView): void {
    writeEvent(EVENTS, this, event, view)
  }

  /** Writes an event of the wire; `data` is on one line. The first one says which turn, session and agent it is about. */
  show(view: TurnView, event: string, data: JsonText): void {
    if (!this.#introduced) this.#introduce(view)
    this.#ports.send({ event, data })
  }

  #introduce({ turn, session, agent }: TurnView): void {
    this.opened = this.#introduced = true
    const about = `{"turn":${quote(turn)},"session":${quote(session)},"agent":${quote(agent)}}`
    this.#ports.send({ event: 'turn', data: about })
  }

  /** Writes a piece of a message. Nothing but quoted strings is in it, so that it is on one line already. */
  delta(view: TurnView, event: string, { message, text, lane }: EventOf<'text-delta' | 'reasoning-delta'>): void {
    this.#headOf(message)
    const json = this.#head + quote(text)
    this.show(view, event, lane === undefined ? `${json}}` : `${json},"lane":${quote(lane)}}`)
  }

  /** Writes pieces of the text of a message. */
  texts({ message, inner }: TextRun, view: TurnView): void {
    if (!this.#introduced) this.#introduce(view)
    this.#headOf(message)
    this.#ports.sendRun({ event: 'text_delta', before: `${this.#head}"`, pieces: inner, after: '"}' })
  }

  #headOf(message: Id): void {
    if (message !== this.#message) this.#head = `{"message":${quote(message)},"text":`
    this.#message = message
  }

  keepAlive(): void {
    this.opened = true
    this.#ports.send({ event: 'ping', data: '{}' })
  }
}

/** Members of an event that are not written as they are: as raw JSON. */
type Raw<E> = Readonly<Record<string, (event: E, report: Report) => JsonText>>

/** Shows an event by these members of it, under their names with underscores. */
function members<E extends TurnEvent>(name: string, keys: readonly (keyof E & string)[], raw: Raw<E> = {}) {
  const named = keys.map((key) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), key] as const)
  return (writer: StreamWriter, event: E, view: TurnView): void => {
    const json = named.map(([wire, key]) => [wire, raw[key]?.(event, writer.report) ?? valueJson(event[key])] as const)
    writer.show(view, name, oneLine(object(json)))
  }
}

function valueJson(value: unknown): JsonText | undefined {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value)
}

/** A message that was not streamed is shown here; of one that was, only its end, unless there is more than its text. */
function messageEnd({ message, parts, lane }: EventOf<'message-end'>, view: TurnView, report: Report): JsonText {
  const known = view.message(message)
  const attachments = partReferences(parts ?? [], view, report)
  const thoughts = known?.thought ? 0 : (parts ?? []).filter(({ type }) => type === 'reasoning').length
  if (thoughts > 0) report({ kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: thoughts })
  return oneLine(
    object({
      message: quote(message),
      text: known?.streamed && attachments.length === 0 ? undefined : quote(known?.text || undefined),
      attachments: attachments.length === 0 ? undefined : `[${attachments.join(',')}]`,
      lane: quote(lane),
    }),
  )
}

function partsJson({ parts }: { parts: readonly Part[] }, report: Report): JsonText {
  return `[${parts.flatMap((part) => partJson(part, report) ?? []).join(',')}]`
}

function partJson(part: Part, report: Report): JsonText | undefined {
  if (part.type === 'text') return `{"type":"text","text":${quote(part.text)}}`
  if (part.type === 'diff') {
    const { path, before, after } = part
    return JSON.stringify({ type: 'diff', path, before, after })
  }
  if (part.type === 'data' && parse(part.json) !== undefined) {
    return object({ type: '"data"', json: part.json, mime_type: quote(part.mime) })
  }
  if (isReference(part)) return `{"type":${quote(part.type)},${attachmentJson(part).slice(1)}`
  report(dropped(`part.${part.type}`))
  return undefined
}

/** An event that our back did not know, back on the same wire. */
function foreign(writer: StreamWriter, { protocol, frame }: EventOf<'foreign'>, view: TurnView): void {
  const name = protocol === PROTOCOL ? parseObject(frame)?.['event'] : undefined
  if (typeof name === 'string' && name !== 'response') writer.show(view, name, oneLine(at(frame, 'data') ?? '{}'))
  else writer.report(dropped('foreign', protocol))
}

/** An unknown event of the streaming profile, as it travels: `{"event":…,"data":…}`. */
export function foreignFrame(name: string, data: string): string {
  return object({ event: quote(name), data: parse(data) === undefined ? quote(data) : data })
}
