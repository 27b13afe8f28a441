import { codec } from '../../../codecs/anthropic/index.ts'
import type { Call } from '../../../src/contract/index.ts'
import type { TurnEvent, TurnStart } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive } from '../../kit/drive.ts'

/** The JSON of a value. */
export const json = (value: unknown): string => JSON.stringify(value)

/** A client that has sent this body. */
export function ask(body: object | string, headers: Record<string, string> = {}, path = '/v1/messages'): FrontDrive {
  const drive = driveFront(codec, { transport: 'http', method: 'POST', path, headers })
  drive.feed(typeof body === 'string' ? body : json(body))
  return drive
}

/** A client that says hi, with these members besides. */
export const hi = (more: object = {}, headers: Record<string, string> = {}): FrontDrive =>
  ask({ model: 'coder', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...more }, headers)

/** A client that says these messages. */
export const said = (...messages: object[]): FrontDrive => hi({ messages })

/** The turn that a request has begun. */
export const startOf = (drive: FrontDrive): TurnStart => drive.commands.at(-1) as TurnStart

/** The error that a request was refused with. */
export const errorOf = (drive: FrontDrive): { type: string; message: string; code: string } =>
  (JSON.parse(String(drive.sent.at(-1))) as { error: never }).error

/** A server-sent event. */
interface Sent {
  type: string
  index?: number
  content_block?: Record<string, unknown>
  delta?: Record<string, unknown>
  [key: string]: unknown
}

/** The events of a stream, parsed. Each says its type twice. */
export function eventsOf(drive: FrontDrive): Sent[] {
  return drive.sent.map((frame) => {
    const { event, data } = frame as { event: string; data: string }
    const parsed = JSON.parse(data) as Sent
    if (parsed.type !== event) throw new Error(`${event} says ${parsed.type}`)
    return parsed
  })
}

/** The blocks of a stream in short: what each began with, its deltas without their types, and that it ended. */
export function blocksOf(drive: FrontDrive): unknown[] {
  const blocks: unknown[][] = []
  let open = -1
  for (const { type, index, content_block: block, delta } of eventsOf(drive)) {
    if (type === 'content_block_start') {
      if (open !== -1 || index !== blocks.length) throw new Error(`block ${index} began out of turn`)
      open = index
      blocks.push([block])
    }
    if (type === 'content_block_delta') {
      if (index !== open) throw new Error(`piece of ${index} while ${open} is open`)
      blocks[open]!.push(delta)
    }
    if (type === 'content_block_stop') {
      if (index !== open) throw new Error(`end of ${index} while ${open} is open`)
      open = -1
    }
  }
  if (open !== -1) throw new Error(`block ${open} has no end`)
  return blocks
}

/** An event of turn `t1`. */
export const event = <T extends TurnEvent['type']>(type: T, more: object = {}): TurnEvent =>
  ({ type, turn: 't1', ...more }) as TurnEvent
export const STARTED = event('turn-started')
export const OPEN = event('message-start', { message: 'm1', role: 'assistant' })
export const CLOSE = event('message-end', { message: 'm1' })
export const END = event('turn-end', { outcome: 'completed', stop: 'end' })
export const USAGE = event('usage', { scope: 'turn', usage: { input: 9, output: 2, cacheRead: 4, cacheWrite: 2 } })
export const text = (said: string, message = 'm1'): TurnEvent => event('text-delta', { message, text: said })
export const thought = (said: string, message = 'm1'): TurnEvent => event('reasoning-delta', { message, text: said })
/** A seal of this API's provider, as a block of reasoning ends with it. */
export const sealed = (data: string, more: object = {}): TurnEvent =>
  event('reasoning-end', { message: 'm1', seal: { provider: 'anthropic', data, ...more } })

/** A server that was asked for a turn. */
export function serve(start: Partial<TurnStart> & { ext?: object } = {}, options: object = {}): BackDrive {
  const drive = driveBack(codec, { options })
  drive.start('hi', start as never)
  return drive
}

type HttpCall = Extract<Call, { kind: 'http' }>

/** One of its calls. */
export const callOf = (drive: BackDrive, index = -1): HttpCall => drive.calls.at(index) as HttpCall

/** The body of one of its requests. */
export function requestOf(drive: BackDrive, index = -1): Record<string, unknown> {
  return JSON.parse(callOf(drive, index).body) as Record<string, unknown>
}

/** Sends events of its answer. */
export function tell(drive: BackDrive, ...events: ({ type: string } & Record<string, unknown>)[]): void {
  for (const said of events) drive.feed({ event: said.type, data: json(said) })
}

/** A block of an answer with its pieces. */
export function block(
  index: number,
  content: object,
  ...deltas: object[]
): ({ type: string } & Record<string, unknown>)[] {
  return [
    { type: 'content_block_start', index, content_block: content },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A text block. */
export const textBlock = (index: number, ...pieces: string[]) =>
  block(index, { type: 'text', text: '' }, ...pieces.map((piece) => ({ type: 'text_delta', text: piece })))

/** A call of a tool. */
export const toolBlock = (index: number, id: string, name: string, ...pieces: string[]) =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} },
    ...pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  )

export const BEGIN = {
  type: 'message_start',
  message: { id: 'msg_1', usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } },
}

/** The end of an answer. */
export const finish = (reason = 'end_turn', output = 2) => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: output } },
  { type: 'message_stop' },
]
