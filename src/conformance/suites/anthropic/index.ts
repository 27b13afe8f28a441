import { modelSuite, type ProtocolSuites } from '../../kit/index.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { scenarios } from './scenarios.ts'

const VERSION = '2023-06-01'

const messages = modelSuite({
  prefix: 'anthropic',
  section: '1 Create a Message',
  http: {
    path: '/v1/messages',
    headers: ({ ANTHROPIC_API_KEY: key }) => ({ 'anthropic-version': VERSION, ...(key && { 'x-api-key': key }) }),
  },
  ask: (content) => ({ max_tokens: 1024, messages: [{ role: 'user', content }] }),
  isAnswer: ({ type }) => type === 'message',
  end: '"stop_reason":"',
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
})

/** The tests of the Messages API, version 2023-06-01. */
export const conformance: ProtocolSuites = { suites: { messages } }
