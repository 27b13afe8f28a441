import { isJsonType } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontContext } from '../../../src/contract/index.ts'
import { type Command, type CommandOf, type Fault, fault, type Id, parseObject } from '../../../src/model/index.ts'
import { type ReadCommand, readCommand } from '../read.ts'

type Headers = FrontContext['headers']

/** A command that a request may bring: a turn, or the answer that a parked one waits for. */
export type Asked = Command & (CommandOf<'turn-start'> | CommandOf<'ask-reply'>)

/** A request as it was read, or the fault that refuses it; `http` is set where the status is not that of the fault's code. */
export type ReadRequest = { command: (exchange: Id, turn: Id) => Asked; startsTurn: boolean } | Refused
interface Refused {
  fault: Fault
  http?: number
}

/** Reads the body of a request under its headers: a command; `turn-start` when it has no type. */
export function readRequest(body: string, headers: Headers): ReadRequest {
  if (!isJsonType(headers['content-type'])) {
    return refused('The body must be JSON; send it as Content-Type: application/json.', 415)
  }
  const value = parseObject(body)
  if (!value) return refused('The body is not a JSON object; send {"input":"…"}.')
  const read = readCommand(body, value, 'turn-start')
  if ('wrong' in read) return refused(`The request cannot be read: ${read.wrong}.`)
  if (read.type !== 'turn-start' && read.type !== 'ask-reply') {
    return refused('type must be "turn-start", or "ask-reply" with the continuation of a parked turn.')
  }
  if (read.type === 'ask-reply' && !namesPark(read)) {
    return refused('target.continuation is missing; it is in the answer that asked.')
  }
  return { startsTurn: read.type === 'turn-start', command: (exchange, turn) => asked(read, exchange, turn, headers) }
}

function refused(message: string, http?: number): Refused {
  return { fault: fault('invalid-request', message), ...(http !== undefined && { http }) }
}

type Read = Extract<ReadCommand, { command: unknown }>

function namesPark(read: Read): boolean {
  const { target } = read.command('', '') as CommandOf<'ask-reply'>
  return target !== 'running' && 'continuation' in target
}

/** The command; headers apply where the body has no value. */
function asked(read: Read, exchange: Id, turn: Id, headers: Headers): Asked {
  const command = read.command(exchange, turn) as Asked
  if (command.type === 'ask-reply') return command
  const { session, options } = command
  const request = command.request ?? (headers['x-request-id'] || undefined)
  const key = command.once ? undefined : headers['idempotency-key'] || undefined
  return {
    ...command,
    ...(request !== undefined && { request }),
    ...(key !== undefined && { once: { key, duplicate: 'join', replay: 'success' } }),
    // A repetition finds the first request in its session: without a name for it, the key is one.
    ...(key !== undefined && session?.id === undefined && { session: { ...session, id: key } }),
    options: { ...(formOf(headers) !== 'whole' && { streaming: true }), ...options },
  }
}

/** The forms of an answer by the media type that asks for them. */
const FORMS: Readonly<Record<string, 'whole' | 'sse' | 'ndjson'>> = {
  'application/json': 'whole',
  'application/*': 'whole',
  '*/*': 'whole',
  'text/event-stream': 'sse',
  'application/x-ndjson': 'ndjson',
}

/**
 * The form that the `Accept` header prefers (RFC 9110, section 12.5.1): the first of equal ones; whole without a
 * preference.
 */
export function formOf({ accept = '' }: Headers): 'whole' | 'sse' | 'ndjson' {
  let best: { form: 'whole' | 'sse' | 'ndjson'; weight: number } = { form: 'whole', weight: 0 }
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((piece) => piece.trim().toLowerCase())
    const given = parameters.find((parameter) => parameter.startsWith('q='))
    const weight = given === undefined ? 1 : Number(given.slice(2))
    if (Object.hasOwn(FORMS, type) && weight > best.weight) best = { form: FORMS[type]!, weight }
  }
  return best.form
}

/** True when the client prefers not to wait for the turn (`Prefer: respond-async`, RFC 7240, section 4.1). */
export function prefersAsync({ prefer = '' }: Headers): boolean {
  return prefer.split(',').some((preference) => /^\s*respond-async\s*(;|$)/i.test(preference))
}

/** The form of the answer. A turn that is only accepted goes on by itself; a stream can ask while it runs. */
export function answerOf(command: Asked, headers: Headers): Answer {
  if (command.type === 'turn-start' && prefersAsync(headers)) {
    return { form: 'accepted', framing: 'body', status: 202, onDisconnect: 'drain', asks: 'next-request' }
  }
  const form = formOf(headers)
  if (form === 'whole') return { form, framing: 'body', onDisconnect: 'cancel', asks: 'next-request' }
  return { form: 'stream', framing: form, onDisconnect: 'cancel', asks: 'inline' }
}
