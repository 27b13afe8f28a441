/** What the agents of the benchmarks say. */

/** The text of every event; what the load counts. */
export const MARK = 'tick'

/** How a chunked answer ends, with trailers or without. */
export const CHUNKED_END: RegExp = /\r\n0\r\n(?:[^\r\n]+\r\n)*\r\n$/

/** A streamed zot answer of so many pieces of text, without its response line; `done` is its last line. */
export function zotAnswer(events: number): string {
  const said = Array.from({ length: events }, (_, at) => ({ type: 'text_delta', delta: ` ${MARK}${at}` }))
  const text = said.map(({ delta }) => delta).join('')
  const lines = [
    { type: 'turn_start', step: 1 },
    { type: 'assistant_start' },
    ...said,
    { type: 'usage', input: 1, output: events, cache_read: 0, cache_write: 0, cost_usd: 0 },
    { type: 'assistant_message', content: [{ type: 'text', text }], time: '2026-01-01T00:00:00Z' },
    { type: 'turn_end', stop: 'end_turn' },
    { type: 'done' },
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}

/** The same answer in ACP, without the result of its prompt. */
export function acpUpdates(events: number): string {
  const lines = Array.from({ length: events }, (_, at) => {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: ` ${MARK}${at}` } }
    return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } })
  })
  return `${lines.join('\n')}\n`
}

const STREAM = { stream: true } as const
/** The agents of the gateway that are servers of models have the names of their APIs. */
const chat = (content: string) => ({ model: 'chat', messages: [{ role: 'user', content }] })
const response = (input: string) => ({ model: 'responses', input })
const messages = (content: string) => ({ model: 'messages', max_tokens: 1000, messages: [{ role: 'user', content }] })

/** The requests that the load sends: the body of one turn of a session. */
export const REQUESTS = {
  openharness: (session: string, text: string, id: string) =>
    JSON.stringify({
      protocol_version: '1.0.0',
      request_id: id,
      capabilities: { 'openharness.streaming': true },
      request: { context: { session_id: session, user_intent: text } },
    }),
  envelope: (session: string, text: string, id: string) =>
    JSON.stringify({
      protocol_version: '1.0.0',
      request_id: id,
      request: { context: { session_id: session, user_intent: text } },
    }),
  native: (session: string, text: string) =>
    JSON.stringify({ session: { id: session }, input: [{ type: 'text', text }] }),
  acp: (_session: string, text: string, id: string) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'session/prompt',
      params: { sessionId: 's', prompt: [{ type: 'text', text }] },
    }),
  zene: (session: string, text: string, id: string) =>
    JSON.stringify({ request_id: id, session_id: session, prompt: text }),
  chat: (_session: string, text: string) => JSON.stringify(chat(text)),
  'chat-stream': (_session: string, text: string) => JSON.stringify({ ...chat(text), ...STREAM }),
  responses: (_session: string, text: string) => JSON.stringify(response(text)),
  'responses-stream': (_session: string, text: string) => JSON.stringify({ ...response(text), ...STREAM }),
  messages: (_session: string, text: string) => JSON.stringify(messages(text)),
  'messages-stream': (_session: string, text: string) => JSON.stringify({ ...messages(text), ...STREAM }),
} as const satisfies Record<string, (session: string, text: string, id: string) => string>

/** The name of a kind of request. */
export type RequestKind = keyof typeof REQUESTS
