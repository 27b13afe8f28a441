import { firstModel, type HostileFacts, MODEL, type ProtocolSuites, type Suite } from '../../kit/index.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { scenarios } from './scenarios.ts'

const VERSION = '2023-06-01'

const hostile: HostileFacts = {
  prefix: 'anthropic',
  form: 'body',
  section: '1 Create a Message',
  isLast: (frame) => frame.includes('"stop_reason":"'),
  clients: { 'unknown-messages-and-fields': 'answer', banner: 'honest', 'answers-twice': 'honest' },
  agents: { 'unknown-messages-and-fields': 'advised' },
  turns: {
    many: false,
    request: (_id, content) => ({ model: MODEL, max_tokens: 1024, messages: [{ role: 'user', content }] }),
    endOf: ({ type }) => (type === 'message' ? '' : type === 'error' ? 'refused' : undefined),
  },
}

const messages: Suite = {
  framing: 'body',
  http: {
    path: '/v1/messages',
    headers: ({ ANTHROPIC_API_KEY: key }) => ({ 'anthropic-version': VERSION, ...(key && { 'x-api-key': key }) }),
  },
  onlyHttp: true,
  env: [],
  values: { [MODEL]: firstModel },
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}

/** The tests of the Messages API, version 2023-06-01. */
export const conformance: ProtocolSuites = { suites: { messages } }
