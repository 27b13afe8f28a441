import * as v from 'valibot'
import { type BodyOf, PlainDeltas, type ToolCalls, unparsed } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
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
} from '../../../src/model/index.ts'
import { partOf } from '../attachments.ts'
import { foreignFrame } from '../front/stream.ts'
import { type StreamPart, streamEvents } from '../schema.ts'
import { usageOf } from '../usage.ts'
import { at, PROTOCOL } from '../wire.ts'

type Events = typeof streamEvents
type EventName = keyof Events
type Handlers = {
  readonly [N in EventName]: (payload: v.InferOutput<Events[N]>, data: string, reader: StreamReader) => void
}

const HANDLERS: Handlers = {
  message_start: ({ message, role, phase, lane }, _data, reader) => {
    const id = reader.newMessage(message)
    reader.emit({ type: 'message-start', message: id, role, ...(phase && { phase }) }, lane)
  },
  message_end: ({ message, text, attachments, lane }, _data, reader) => {
    const id = reader.message(message)
    if (id === undefined) return reader.unparsed('message_end')
    const parts: Part[] = (attachments ?? []).flatMap((attachment) => partOf(attachment) ?? [])
    if (text !== undefined) parts.unshift({ type: 'text', text })
    if (text !== undefined) reader.text = true
    reader.emit({ type: 'message-end', message: id, ...(parts.length > 0 && { parts }) }, lane)
  },
  message_retract: ({ message, keep_text, lane }, _data, reader) => {
    const id = reader.message(message)
    if (id === undefined) reader.unparsed('message_retract')
    else reader.emit({ type: 'message-retract', message: id, keepText: keep_text }, lane)
  },
  tool_start: ({ tool, message, name, kind, title, executor, lane }, _data, reader) => {
    const of = message === undefined ? undefined : reader.message(message)
    const more = {
      ...(of && { message: of }),
      ...(kind !== undefined && { kind }),
      ...(title !== undefined && { title }),
    }
    reader.emit({ type: 'tool-start', tool: reader.tools.start(tool), name, executor, ...more }, lane)
  },
  tool_args_delta: ({ tool, text, lane }, _data, reader) => {
    const id = reader.tools.drafting(tool)
    if (id === undefined) reader.unparsed('tool_args_delta')
    else reader.emit({ type: 'tool-args-delta', tool: id, text }, lane)
  },
  tool_call: ({ tool, name, executor, lane }, data, reader) => {
    const id = reader.tools.call(tool)
    reader.emit({ type: 'tool-call', tool: id, name, args: at(data, 'args') ?? '{}', executor }, lane)
  },
  tool_progress: ({ tool, parts, lane }, data, reader) => {
    const id = reader.tools.running(tool)
    if (id === undefined) reader.unparsed('tool_progress')
    else reader.emit({ type: 'tool-progress', tool: id, parts: partsOf(parts, data) }, lane)
  },
  tool_end: ({ tool, status, parts, lane }, data, reader) => {
    const id = reader.tools.end(tool)
    if (id === undefined) reader.unparsed('tool_end')
    else reader.emit({ type: 'tool-end', tool: id, status, parts: partsOf(parts, data) }, lane)
  },
  directive: ({ action_type }, data, reader) => {
    reader.directives = true
    reader.emit({ type: 'directive', action: action_type, json: data }, undefined)
  },
  usage: (payload, _data, reader) => {
    const { scope, lane } = payload
    const counted = usageOf(payload, (loss) => reader.report(loss))
    if (!counted) return
    if (scope === 'turn') reader.usage = true
    reader.emit({ type: 'usage', scope, ...counted }, lane)
  },
  notice: ({ severity, code, text, lane }, _data, reader) => {
    reader.emit({ type: 'notice', severity, code, text }, lane)
  },
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

type Body = BodyOf<AgentEvent, 'lane' | 'ext'>

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
    if (name === 'response') this.response = data
    else if (name === 'text_delta' || name === 'reasoning_delta') this.#delta(name, data)
    else if (Object.hasOwn(HANDLERS, name)) this.#known(name as EventName, data)
    else if (name !== 'turn' && name !== 'ping') {
      this.emit({ type: 'foreign', protocol: PROTOCOL, frame: foreignFrame(name, data) }, undefined)
    }
  }

  /** Emits an event of the turn, in a lane where the wire named one. */
  emit(body: Body, lane: string | undefined): void {
    const event = { ...body, turn: this.#turn, ...(lane !== undefined && { lane }) } as AgentEvent
    this.#ports.emit(event)
  }

  /** The tool calls of the turn. */
  get tools(): ToolCalls {
    return this.#ids.tool
  }

  /** An id of the gateway. */
  newId(): Id {
    return this.#ports.newId()
  }

  /** The gateway's id of a new message on the wire. */
  newMessage(wire: string): Id {
    const id = this.newId()
    this.#ids.message.set(wire, id)
    return id
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
    if (!read.success) {
      this.unparsed(name)
      return
    }
    const handle = HANDLERS[name] as (payload: unknown, data: string, reader: StreamReader) => void
    handle(read.output, data, this)
  }
}
