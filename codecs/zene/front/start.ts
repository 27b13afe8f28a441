import type { Answer } from '../../../src/contract/index.ts'
import type { Command, Id, Once } from '../../../src/model/index.ts'
import type { RunRequest } from './request.ts'

/** The limit of a run that names none, in milliseconds. */
const DEFAULT_TOTAL_MS = 120_000

/** The canonical command of a run. */
export function startCommand(
  exchange: Id,
  turn: Id,
  { run, sentAt, ext }: RunRequest,
  once: Once | undefined,
): Command {
  const { request_id, session_id, channel_id, agent, prompt, stream, timeout_ms } = run
  return {
    exchange,
    type: 'turn-start',
    turn,
    task: 'prompt',
    request: request_id,
    ...(agent && { agent }),
    input: [{ type: 'text', text: prompt }],
    options: { ...(stream != null && { streaming: stream }), totalMs: Math.floor(timeout_ms ?? DEFAULT_TOTAL_MS) },
    // The time at which a run was sent is not part of the request.
    ...(once && { once: sentAt === undefined ? once : { ...once, incidental: ['ts_ms'] } }),
    session: { id: session_id, ...(channel_id && { channel: channel_id }) },
    ...(ext && { ext }),
  }
}

/**
 * The form in which an exchange is answered. A turn with a key outlives its client: the next attempt under the same key
 * gets its answer. Without a key no client could get it.
 */
export function answerOf(http: boolean, lines: boolean, keyed: boolean): Answer {
  const common = { onDisconnect: keyed ? 'drain' : 'cancel', asks: 'never' } as const
  if (lines) return { ...common, form: 'stream', framing: 'ndjson' }
  return { ...common, form: 'whole', framing: http ? 'body' : 'ndjson', ...(http && { headers: JSON_TYPE }) }
}

/** The headers of an answer that is one body. */
export const JSON_TYPE = { 'content-type': 'application/json' }
