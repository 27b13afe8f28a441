import * as v from 'valibot'
import { type BodyOf, PlainDeltas, type ToolCalls, unparsed } from '../../../src/codec-kit/index.ts'
import type { BackPorts, WireText } from '../../../src/contract/index.ts'
import {
  type AgentEvent,
  elements,
  type Id,
  type Item,
  type JsonText,
  type Loss,
  messagePattern,
  type Part,
  parseObject,
  TextRun,
} from '../../../src/model/index.ts'
import { partOf } from '../attachments.ts'
import { foreignFrame } from '../front/stream.ts'
import { type StreamPart, streamEvents } from '../schema.ts'
import { usageOf } from '../usage.ts'
import { at, PROTOCOL } from '../wire.ts'

type Events = typeof streamEvents
type EventName = keyof Events
type Body = BodyOf<AgentEvent, 'lane' | 'ext'>

/** The members of payloads that say what an event is about. */
interface Payload {
  [other: string]: unknown
  message?: string | undefined
  tool?: string | undefined
  lane?: string | undefined
}

/** The event of a payload, which is `data` as it came; `id` is the gateway's id of its message or call. */
type Handlers = {
  readonly [N in EventName]: (
    payload: v.InferOutput<Events[N]>,
    id: Id,
    data: string,
    reader: StreamReader,
  ) => Body | undefined
}

const HANDLERS: Handlers = {
  message_start: ({ role, phase }, message) => ({ type: 'message-start', message, role, ...(phase && { phase }) }),
  message_end: ({ text, attachments = [] }, message, _data, reader) => {
    const parts: Part[] = attachments.flatMap((attachment) => partOf(attachment) ?? [])
    if (text !== undefined) parts.unshift({ type: 'text', text })
    if (text !== undefined) reader.text = true
    return { type: 'message-end', message, ...(parts.length > 0 && { parts }) }
  },
  message_retract: ({ keep_text: keepText }, message) => ({ type: 'message-retract', message, keepText }),
  tool_start: ({ message, name, kind, title, executor }, tool, _data, reader) => {
    const of = message === undefined ? undefined : reader.message(message)
    const about = { ...(kind !== undefined && { kind }), ...(title !== undefined && { title }) }
    return { type: 'tool-start', tool, name, executor, ...(of && { message: of }), ...about }
  },
  tool_args_delta: ({ text }, tool) => ({ type: 'tool-args-delta', tool, text }),
  tool_call: ({ name, executor }, tool, data) => {
    return { type: 'tool-call', tool, name, args: at(data, 'args') ?? '{}', executor }
  },
  tool_progress: ({ parts }, tool, data) => ({ type: 'tool-progress', tool, parts: partsOf(parts, data) }),
  tool_end: ({ status, parts }, tool, data) => ({ type: 'tool-end', tool, status, parts: partsOf(parts, data) }),
  directive: ({ action_type: action }, _id, data, reader) => {
    reader.directives = true
    return { type: 'directive', action, json: data }
  },
  usage: (payload, _id, _data, reader) => {
    const { scope } = payload
    const counted = usageOf(payload, (loss) => reader.report(loss))
    if (counted && scope === 'turn') reader.usage = true
    return counted && { type: 'usage', scope, ...counted }
  },
  notice: ({ severity, code, text }) => ({ type: 'notice', severity, code, text }),
}

/** The call that an event is about. */
const CALLS: Partial<Record<EventName, 'start' | 'drafting' | 'call' | 'running' | 'end'>> = {
  tool_start: 'start',
  tool_args_delta: 'drafting',
  tool_call: 'call',
  tool_progress: 'running',
  tool_end: 'end',
}

function partsOf(parts: readonly StreamPart[], data: string): Part[] {
  const raw = elements(at(data, 'parts') ?? '')
  return parts.flatMap((part, index) => partFrom(part, raw[index]!) ?? [])
}

function partFrom(part: StreamPart, raw: JsonText): Part | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'diff':
      return { type: 'diff', path: part.path, before: part.before, after: part.after }
    case 'data': {
      const mime = part.mime_type
      return { type: 'data', json: at(raw, 'json') ?? 'null', ...(mime !== undefined && { mime }) }
    }
    default: {
      const blob = partOf(part)
      return blob && { ...blob, type: part.type }
    }
  }
}

/** The payload of a delta as it is nearly always written. */
const PLAIN_DELTA = messagePattern('{"message":*,"text":*}')

/** The gateway's ids of messages and tools by the wire's own: a message continues in the call after an approval. */
export interface StreamIds {
  readonly message: Map<string, Id>
  readonly tool: ToolCalls
}

/** Reads the streaming profile of one call: emits what its events say and keeps the closing `response`. */
export class StreamReader {
  readonly #turn: Id
  readonly #ports: BackPorts
  readonly #ids: StreamIds
  readonly #deltas = new PlainDeltas(PLAIN_DELTA)
  /** The name of the newest event. */
  #newest = ''
  /** Something of the profile came. */
  used = false
  /** Text, directives or the turn's usage came as events: the closing envelope repeats them. */
  text = false
  directives = false
  usage = false
  /** The closing envelope. */
  response: string | undefined

  /** `ids` are those of the turn's earlier calls, and get what this one names. */
  constructor(turn: Id, ports: BackPorts, ids: StreamIds) {
    this.#turn = turn
    this.#ports = ports
    this.#ids = ids
  }

  /** One event of the wire; the `response` is the last. */
  read(name: string, data: string): void {
    this.used = true
    this.#newest = name
    if (name === 'response') this.response = data
    else if (name === 'text_delta' || name === 'reasoning_delta') this.#delta(name, data)
    else if (Object.hasOwn(HANDLERS, name)) this.#known(name as EventName, data)
    else if (name !== 'turn' && name !== 'ping') {
      this.emit({ type: 'foreign', protocol: PROTOCOL, frame: foreignFrame(name, data) }, undefined)
    }
  }

  /** Pieces of text like the newest event that stand in a row on the wire. */
  texts(wire: WireText): TextRun | undefined {
    const [, named] = this.#deltas.known ?? []
    const message = named === undefined || this.#newest !== 'text_delta' ? undefined : this.message(named)
    const texts = message === undefined ? [] : this.#deltas.textsIn(wire)
    if (texts.length === 0) return undefined
    this.text = true
    return TextRun.from(this.#turn, message!, texts)
  }

  /** Emits an event of the turn, in a lane where the wire named one. */
  emit(body: Body, lane: string | undefined): void {
    const event = { ...body, turn: this.#turn, ...(lane !== undefined && { lane }) } as AgentEvent
    this.#ports.emit(event)
  }

  /** The gateway's id of the message that the wire named last by this. */
  message(wire: string): Id | undefined {
    return this.#ids.message.get(wire)
  }

  /** Counts an event whose payload cannot be read. */
  unparsed(name: EventName | 'text_delta' | 'reasoning_delta'): void {
    this.report(unparsed(name.replaceAll('_', '-') as Item, name))
  }

  report(loss: Loss): void {
    this.#ports.report(loss, this.#turn)
  }

  /** The hottest events, without a schema. */
  #delta(name: 'text_delta' | 'reasoning_delta', data: string): void {
    const plain = this.#deltas.textIn(data)
    if (plain !== undefined) {
      this.#piece(name, this.#deltas.strings[1]!, plain, undefined)
      return
    }
    const { message, text, lane } = parseObject(data) ?? {}
    const named = typeof message === 'string' || typeof message === 'number' || message == null
    if (!named || typeof text !== 'string') this.unparsed(name)
    else this.#piece(name, String(message ?? ''), text, typeof lane === 'string' ? lane : undefined)
  }

  #piece(name: 'text_delta' | 'reasoning_delta', message: string, text: string, lane: string | undefined): void {
    const id = this.message(message)
    if (id === undefined) {
      this.unparsed(name)
      return
    }
    if (name === 'text_delta') this.text = true
    const type = name === 'text_delta' ? 'text-delta' : 'reasoning-delta'
    if (lane !== undefined) this.emit({ type, message: id, text }, lane)
    // In this order of its members the record has it short.
    else this.#ports.emit({ turn: this.#turn, type, message: id, text })
  }

  #known(name: EventName, data: string): void {
    const read = v.safeParse(streamEvents[name], parseObject(data))
    const payload: Payload | undefined = read.success ? read.output : undefined
    const id = payload && this.#idOf(name, payload)
    if (id === undefined) {
      this.unparsed(name)
      return
    }
    const handle = HANDLERS[name] as (payload: unknown, id: Id, data: string, reader: StreamReader) => Body | undefined
    const body = handle(payload, id, data, this)
    if (body) this.emit(body, payload!.lane)
  }

  /** The gateway's id of the message or the call that an event is about; empty for one that is about neither. */
  #idOf(name: EventName, { message, tool }: Payload): Id | undefined {
    const call = CALLS[name]
    if (call) return this.#ids.tool[call](tool!)
    if (!name.startsWith('message_')) return ''
    if (name === 'message_start') this.#ids.message.set(message!, this.#ports.newId())
    return this.message(message!)
  }
}
