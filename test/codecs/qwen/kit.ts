/** Helpers of this dialect's tests. */

import { codec as qwen } from '../../../codecs/qwen/index.ts'
import type { Options } from '../../../codecs/qwen/options.ts'
import { type CallEnd, type Codec, type FrontContext, frameText } from '../../../src/contract/index.ts'
import type { AgentEvent, EventOf, TurnEvent } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive } from '../../kit/drive.ts'

export type Line = Record<string, unknown>

/** The dialect alone, as a codec. */
export const codec: Codec<Options> = { ...qwen, dialects: { rfc: qwen.dialects['rfc']! } }

export const JSON_ARGS = ['--input-format', 'stream-json', '--output-format', 'stream-json']
export const CHUNK_ARGS = ['--input-format', 'stream-json', '--output-format', 'stream-chunk-json']

/** The lines that a link wrote, parsed. */
export function sentLines(drive: BackDrive | FrontDrive): Line[] {
  return drive.sent.map((frame) => JSON.parse(frameText(frame)) as Line)
}

/** The lines of a front without what every one of them has. */
export function bare(lines: readonly Line[]): Line[] {
  return lines.map(({ id, created, model, session_id, prompt_id, timestamp, ...line }) => line)
}

export function front(argv: readonly string[] = JSON_ARGS, context: Partial<FrontContext> = {}): FrontDrive {
  return driveFront(codec, { argv, ...context })
}

export function http(context: Partial<FrontContext> = {}): FrontDrive {
  return driveFront(codec, { transport: 'http', method: 'POST', path: '/v1/qwen', ...context })
}

/** A minimal Qwen Chat Request. */
export function chat(text: string, more: Line = {}): string {
  return JSON.stringify({
    session_id: 's',
    prompt_id: 's########1',
    input: { origin: 'user', parts: [{ type: 'text', text }], command: null },
    ...more,
  })
}

/** What a front writes for these events of a prompt, between its first line and without what every line has. */
export function linesOf(events: readonly object[], argv: readonly string[] = JSON_ARGS, request = chat('hi')): Line[] {
  const drive = front(argv)
  drive.feed(request)
  play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }, ...events])
  return bare(sentLines(drive)).slice(1)
}

export function play(drive: FrontDrive, events: readonly object[], exchange?: string): void {
  const turns = events.map((event) => ({ turn: 't1', ...event }) as TurnEvent)
  drive.play(turns, exchange ?? drive.commands.findLast((command) => command.type === 'turn-start')!.exchange)
}

export const ended: CallEnd = { why: 'closed', exitCode: 0 }
export const completed = { type: 'turn-end', outcome: 'completed', stop: 'end' } as const
export const finished = { type: 'x-qwen-session-event', event: 'Finished', message: 'The turn is finished.' }

type Context = Parameters<typeof driveBack>[1]

/** A back link whose process runs, with one prompt sent; nothing recorded so far. */
export function runningBack(more: Parameters<BackDrive['start']>[1] = {}, context: Context = {}): BackDrive {
  const drive = driveBack(codec, context)
  drive.link.open?.()
  drive.start('hi', more)
  drive.events.length = 0
  drive.sent.length = 0
  return drive
}

/** What a back makes of these lines of a running prompt, without `turn`. */
export function eventsOf(lines: readonly (Line | string)[], more: Parameters<BackDrive['start']>[1] = {}): object[] {
  const drive = runningBack(more)
  feed(drive, lines)
  return withoutTurn(drive.events)
}

export function feed(drive: BackDrive | FrontDrive, lines: readonly (Line | string)[]): void {
  drive.feed(...lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))))
}

export function withoutTurn(events: readonly AgentEvent[]): object[] {
  return events.map(({ turn: _turn, ...event }) => event)
}

export function completion(message: Line | undefined, finish: string | null, more: Line = {}): Line {
  return { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], ...more }
}

export function chunk(delta: Line, finish: string | null = null, more: Line = {}): Line {
  return { object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more }
}

export function event(name: string, more: Line = {}): Line {
  return { type: 'x-qwen-session-event', event: name, message: '', ...more }
}

/** The `turn-end` events. */
export function endsOf(events: readonly AgentEvent[]): EventOf<'turn-end'>[] {
  return events.filter((event) => event.type === 'turn-end')
}
