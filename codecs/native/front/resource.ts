import type { BodyOf } from '../../../src/codec-kit/index.ts'
import {
  type Answer,
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
  type InputFate,
} from '../../../src/contract/index.ts'
import {
  append,
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type LinkEvent,
  parse,
  parseObject,
  quote,
  type TurnEvent,
  type TurnStart,
  type TurnView,
} from '../../../src/model/index.ts'
import { faultLine } from '../lines.ts'
import { readCommand } from '../read.ts'
import { write } from '../wire.ts'
import { formOf } from './http-request.ts'
import { isFollowed, listArgs } from './list-args.ts'
import { StreamedAnswer } from './streamed.ts'

/** A request for a turn or a session that there is: the segments of its path, its body. */
interface Request {
  exchange: Id
  params: Readonly<Record<string, string>>
  query: string
  body: string
}

/** The command of a request, without its exchange. */
type Asked = BodyOf<Exclude<Command, TurnStart>, 'exchange'>

/** The command of each endpoint; text says why the request is wrong. */
const COMMANDS: Readonly<Record<string, (request: Request) => Asked | string>> = {
  'GET /v1/turns': ({ query }) => ({ type: 'query', what: 'turns', args: listArgs(query) }),
  'GET /v1/turns/:turn': ({ params }) => ({
    type: 'query',
    what: 'turn',
    args: JSON.stringify({ turn: params['turn'] }),
  }),
  'DELETE /v1/turns/:turn': ({ params }) => ({ type: 'turn-delete', id: params['turn']! }),
  'GET /v1/turns/:turn/input': ({ params, query }) => {
    const continuation = new URLSearchParams(query).get('continuation') ?? undefined
    return { type: 'query', what: 'input', args: JSON.stringify({ turn: params['turn'], continuation }) }
  },
  'GET /v1/turns/:turn/events': ({ params }) => ({ type: 'turn-follow', target: targetOf(params) }),
  'POST /v1/turns/:turn/cancel': ({ params }) => ({ type: 'turn-cancel', target: targetOf(params) }),
  'POST /v1/turns/:turn/approvals/:ask': approval,
  'GET /v1/sessions': ({ query }) => ({ type: 'query', what: 'sessions', args: listArgs(query) }),
  'GET /v1/sessions/:session': ({ params }) => ({
    type: 'query',
    what: 'session',
    args: JSON.stringify({ id: params['session'] }),
  }),
  'POST /v1/sessions/:session/fork': fork,
  'GET /v1/agents/:agent/sessions': ({ query }) => ({
    type: 'query',
    what: 'agent-sessions',
    args: JSON.stringify(Object.fromEntries(new URLSearchParams(query))),
  }),
  'DELETE /v1/sessions/:session': ({ params }) => ({ type: 'session-delete', id: params['session']! }),
}

function targetOf(params: Request['params']): { turn: Id } {
  return { turn: params['turn']! }
}

/** The endpoints of what there is, as `METHOD PATH`. */
export const RESOURCE_ENDPOINTS: readonly string[] = Object.keys(COMMANDS)

/** `{"session":{"id"}}`: the name of the copy. Without a body the gateway names it. */
function fork({ exchange, params, body }: Request): Asked | string {
  const json = body.trim() === '' ? '{}' : body
  const given = parseObject(json)
  if (!given) return 'the body is not a JSON object; send {"session":{"id":"…"}}, or nothing'
  if ('type' in given || 'id' in given) return 'the path says what is copied; the body may only have "session"'
  const read = readCommand(
    append(json, `{"id":${quote(params['session']!)}}`),
    { ...given, id: params['session'] },
    'session-fork',
  )
  return 'wrong' in read ? read.wrong : (read.command(exchange, '') as CommandOf<'session-fork'>)
}

/** `{"option"}` for an approval, with an optional `message`; or a whole `reply`, for any question. */
function approval({ exchange, params, body }: Request): Asked | string {
  const given = parseObject(body)
  if (!given) return 'the body is not a JSON object; send {"option":"…"}'
  const { option, message } = given
  const reply = 'reply' in given ? undefined : { kind: 'approval', option, ...(message !== undefined && { message }) }
  const own = reply ? JSON.stringify({ reply }) : body.trim()
  const json = `{"target":"running",${own.slice(1)}`
  const read = readCommand(json, parseObject(json)!, 'ask-reply')
  if ('wrong' in read) return read.wrong
  // This path is for answers alone: no other command takes effect by it.
  if (read.type !== 'ask-reply') return 'type must be "ask-reply", or be left out'
  return {
    ...(read.command(exchange, '') as CommandOf<'ask-reply'>),
    target: targetOf(params),
    ask: params['ask']!,
  }
}

const WHOLE: Answer = { form: 'whole', framing: 'body', onDisconnect: 'drain', asks: 'never' }

/**
 * A client of the turns and sessions that there are: lists, states, cancels, answers to questions, and the events of a
 * turn from the first one, or from the one after `Last-Event-ID`, until it ends; or what becomes of all turns.
 */
export class ResourceFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** The number of the last event that the client has seen. */
  readonly #seen: number
  readonly #framing: 'sse' | 'ndjson'
  readonly #stream: StreamedAnswer
  #streaming = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.#seen = Number(context.headers['last-event-id'] ?? 0) || 0
    this.#framing = formOf(context.headers) === 'ndjson' ? 'ndjson' : 'sse'
    this.#stream = new StreamedAnswer(ports, this.#framing)
  }

  decode(frame: Frame): void {
    const { method, path, params, query } = this.#context
    const exchange = this.#ports.newId()
    const asked = COMMANDS[`${method} ${path}`]!({ exchange, params: params!, query, body: frameText(frame) })
    if (typeof asked === 'string') {
      this.#ports.fault(fault('invalid-request', `The request cannot be read: ${asked}.`), 'continues')
      return
    }
    const lists = asked.type === 'query' && asked.what === 'turns'
    const follows = asked.type === 'turn-follow' || (lists && isFollowed(query))
    this.#ports.command({ exchange, ...asked }, follows ? this.#following() : WHOLE)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#streaming = true
    if (view.seq > this.#seen) this.#stream.event(event, exchange, view)
  }

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    if (event.fault) this.encodeFault(event.fault, undefined, 'continues')
    else if (event.more) this.#changed(event.data!)
    else if (!this.#streaming) this.#ports.send(write(parse(event.data ?? '{}')))
  }

  encodeFault(found: Fault, _exchange: Id | undefined, input: InputFate): void {
    const line = faultLine(found, undefined, input, [])
    if (this.#streaming) this.#stream.write('fault', line)
    else this.#ports.send(line)
  }

  keepAlive(): void {
    if (this.#streaming) this.#stream.keepAlive()
  }

  /** Turns that have got further. */
  #changed(data: JsonText): void {
    this.#streaming = true
    this.#stream.write('turns', data)
  }

  /**
   * Following must change nothing: a client that follows a turn only gets questions of its agent if it asks for that.
   */
  #following(): Answer {
    const asks = /(^|&)asks=now(&|$)/.test(this.#context.query) ? 'inline' : 'never'
    return { form: 'stream', framing: this.#framing, onDisconnect: 'drain', asks }
  }
}
