/** Helpers for the stream-mode client side of Zene. */
import { codec } from '../../../codecs/zene/index.ts'
import type { TurnEvent } from '../../../src/model/index.ts'
import { driveFront } from '../../kit/drive.ts'

/** The command line of stream mode. */
export const STREAM = ['host', '--protocol', 'v1', '--single-request', 'false']
/** A request line. */
export const run = (id: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    protocol_version: 1,
    type: 'run',
    request_id: id,
    session_id: 's',
    prompt: 'p',
    idempotency_key: `k-${id}`,
    ...more,
  })

/** A stream-mode stand-in. */
export const stream = (env: Record<string, string> = {}, argv: readonly string[] = STREAM) =>
  driveFront(codec, { argv, env })
/** What a stand-in did. */
export type Drive = ReturnType<typeof stream>
/** What was sent, parsed. */
export const lines = (drive: Drive, from = 0): Record<string, unknown>[] =>
  drive.sent.slice(from).map((frame) => JSON.parse(String(frame)) as Record<string, unknown>)
/** What kind of line each one is. */
export const statuses = (drive: Drive, from = 0): unknown[] =>
  lines(drive, from).map(({ type, status, event_type }) => status ?? event_type ?? type)

/** How the engine took a run. */
export const accepted = (how: 'new' | 'joined' | 'replayed', request?: string): TurnEvent => ({
  type: 'turn-accepted',
  turn: 't1',
  how,
  session: 's1',
  ...(request && { request }),
})
