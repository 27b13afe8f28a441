import { codec } from '../../../codecs/openai/index.ts'
import type { Call } from '../../../src/contract/index.ts'
import type { TurnEvent, TurnStart } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive } from '../../kit/drive.ts'

/** The JSON of a value. */
export const json = (value: unknown): string => JSON.stringify(value)

/** A client that has sent this body. */
export function ask(body: object | string, headers: Record<string, string> = {}): FrontDrive {
  const context = { transport: 'http', method: 'POST', path: '/v1/chat/completions', headers } as const
  const drive = driveFront(codec, { dialect: 'chat', ...context })
  drive.feed(typeof body === 'string' ? body : json(body))
  return drive
}

/** A client that says hi, with these members besides. */
export const hi = (more: object = {}): FrontDrive =>
  ask({ model: 'coder', messages: [{ role: 'user', content: 'hi' }], ...more })

/** The turn that a request has begun. */
export const startOf = (drive: FrontDrive): TurnStart => drive.commands.at(-1) as TurnStart

/** The error that a request was refused with. */
export const errorOf = (drive: FrontDrive): { message: string; type: string; code: string; param: string | null } =>
  (JSON.parse(String(drive.sent.at(-1))) as { error: never }).error

/** The data of every server-sent event, parsed but for the last word. */
export function chunksOf(drive: FrontDrive): unknown[] {
  return drive.sent.map((frame) => {
    const { data } = frame as { data: string }
    return data === '[DONE]' ? data : (JSON.parse(data) as unknown)
  })
}

/** The deltas and finish reasons of a stream, in order. */
export function deltasOf(drive: FrontDrive): unknown[] {
  type Chunk = { choices?: { delta: object; finish_reason: string | null }[] }
  return chunksOf(drive).map((chunk) => {
    const [choice] = (chunk as Chunk).choices ?? []
    if (!choice) return chunk
    return choice.finish_reason === null ? choice.delta : choice.finish_reason
  })
}

/** An event of turn `t1`. */
export const event = <T extends TurnEvent['type']>(type: T, more: object = {}): TurnEvent =>
  ({ type, turn: 't1', ...more }) as TurnEvent
export const STARTED = event('turn-started')
export const OPEN = event('message-start', { message: 'm1', role: 'assistant' })
export const CLOSE = event('message-end', { message: 'm1' })
export const END = event('turn-end', { outcome: 'completed', stop: 'end' })
export const text = (said: string, message = 'm1'): TurnEvent => event('text-delta', { message, text: said })

/** A server that was asked for a turn. */
export function serve(start: Partial<TurnStart> = {}, options: object = {}): BackDrive {
  const drive = driveBack(codec, { dialect: 'chat', options })
  drive.start('hi', start)
  return drive
}

/** The body of one of its requests. */
export function requestOf(drive: BackDrive, index = -1): Record<string, unknown> {
  return JSON.parse((drive.calls.at(index) as Extract<Call, { kind: 'http' }>).body) as Record<string, unknown>
}

/** Sends chunks with these deltas. */
export function say(drive: BackDrive, ...deltas: object[]): void {
  for (const delta of deltas) drive.feed({ data: json({ choices: [{ index: 0, delta, finish_reason: null }] }) })
}

/** Ends an answer for this reason. */
export function finish(drive: BackDrive, reason = 'stop', more: object = {}): void {
  drive.feed({ data: json({ choices: [{ index: 0, delta: {}, finish_reason: reason }], ...more }) }, { data: '[DONE]' })
}
