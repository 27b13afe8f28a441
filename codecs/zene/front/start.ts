import type { Answer } from '../../../src/contract/index.ts'
import type { Command, Id, Once } from '../../../src/model/index.ts'
import type { Ids, RunRequest } from './request.ts'

/** The canonical command of a run. */
export function startCommand(exchange: Id, turn: Id, ids: Ids, run: RunRequest, once: Once | undefined): Command {
  return {
    exchange,
    type: 'turn-start',
    turn,
    task: 'prompt',
    request: ids.request,
    ...(run.agent !== undefined && { agent: run.agent }),
    input: [{ type: 'text', text: run.prompt }],
    options: { ...(run.stream !== undefined && { streaming: run.stream }), totalMs: run.totalMs },
    // The time at which a run was sent is not part of the request.
    ...(once && { once: run.sentAt === undefined ? once : { ...once, incidental: ['ts_ms'] } }),
    session: { id: run.session, ...(run.channel !== undefined && { channel: run.channel }) },
    ...(run.ext && { ext: run.ext }),
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

const JSON_TYPE = { 'content-type': 'application/json' }
