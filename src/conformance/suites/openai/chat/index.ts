import { modelSuite } from '../../../kit/index.ts'
import { bearer } from '../common.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { scenarios } from './scenarios.ts'
/** The tests of Chat Completions. */
export const chat = modelSuite({
  prefix: 'openai-chat',
  section: '1 Create chat completion',
  http: { path: '/chat/completions', headers: bearer },
  ask: (content) => ({ messages: [{ role: 'user', content }] }),
  isAnswer: ({ choices }) => Array.isArray(choices),
  end: '"finish_reason":"',
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
})
