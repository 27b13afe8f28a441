/** Requests of clients of each protocol that has an endpoint: what "Try it" sends through a door. */

/** The content of a request, whatever the protocol. */
export interface Asked {
  text: string
  /** The name of the session, chosen by this page. */
  session: string
  /** The id of the request. */
  request: string
  agent: string
  /** The conversation of the session so far: for protocols whose clients send all of it. */
  before: readonly { role: 'user' | 'assistant'; text: string }[]
}

/** A request, below the address of the gateway. */
export interface DoorRequest {
  path: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** A client of a protocol: how it asks. */
interface Client {
  headers?: Readonly<Record<string, string>>
  body(asked: Asked): unknown
}

const messages = ({ before, text }: Asked): unknown[] => [
  ...before.map(({ role, text }) => ({ role, content: text })),
  { role: 'user', content: text },
]

/** The clients by the path of their endpoint. */
const CLIENTS: Readonly<Record<string, Client>> = {
  '/v1/turns': {
    headers: { accept: 'text/event-stream' },
    body: ({ text, session, request }) => ({ input: text, request, session: { id: session } }),
  },
  '/v1/chat/completions': {
    body: (asked) => ({ model: asked.agent, stream: true, messages: messages(asked) }),
  },
  '/v1/responses': {
    body: (asked) => ({ model: asked.agent, stream: true, input: messages(asked) }),
  },
  '/v1/messages': {
    headers: { 'anthropic-version': '2023-06-01' },
    body: (asked) => ({ model: asked.agent, max_tokens: 4096, stream: true, messages: messages(asked) }),
  },
  '/v1/openharness': {
    body: ({ text, session, request }) => ({
      protocol_version: '1.0.0',
      request_id: request,
      request: { context: { session_id: session, user_intent: text } },
    }),
  },
  '/v1/zene': {
    body: ({ text, session, request }) => ({ request_id: request, session_id: session, prompt: text }),
  },
  '/v1/respond': {
    body: ({ text, session, agent }) => ({ agent, prompt: text, channel_id: 'console', session_id: session }),
  },
  '/v1/zot': { body: ({ text, request }) => ({ id: request, type: 'prompt', message: text }) },
  '/v1/agentproc': {
    body: ({ text, session }) => ({
      type: 'turn',
      message: text,
      session_id: session,
      session_name: 'default',
      protocol_version: '0.4',
    }),
  },
  '/v1/qwen': {
    body: ({ text, session, request }) => ({
      session_id: session,
      prompt_id: request,
      input: { origin: 'user', parts: [{ text }] },
    }),
  },
  '/v1/qwen-code': {
    body: ({ text, session }) => ({
      type: 'user',
      session_id: session,
      parent_tool_use_id: null,
      message: { role: 'user', content: text },
    }),
  },
}

/** The paths of the endpoints that this page has a client of. */
export const DOORS: readonly string[] = Object.keys(CLIENTS)

/** The request of a client of one of these endpoints. */
export function requestOf(path: string, asked: Asked): DoorRequest {
  const client = CLIENTS[path]!
  return {
    path,
    headers: {
      'content-type': 'application/json',
      'turnpike-agent': asked.agent,
      'turnpike-session': asked.session,
      'x-request-id': asked.request,
      // The page answers, also where the client of the protocol could not be asked.
      'turnpike-asks': 'follower',
      ...client.headers,
    },
    body: `${JSON.stringify(client.body(asked))}\n`,
  }
}
