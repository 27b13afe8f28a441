import { firstModel, type HostileFacts, isObject, MODEL, type Suite } from '../../../kit/index.ts'
import { bearer } from '../key.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { scenarios } from './scenarios.ts'

const hostile: HostileFacts = {
  prefix: 'openai-chat',
  form: 'body',
  section: '1 Create chat completion',
  isLast: (frame) => frame.includes('"finish_reason":"'),
  clients: { 'unknown-messages-and-fields': 'answer', banner: 'honest', 'answers-twice': 'honest' },
  agents: { 'unknown-messages-and-fields': 'advised' },
  turns: {
    many: false,
    request: (_id, content) => ({ model: MODEL, messages: [{ role: 'user', content }] }),
    endOf: (said) => (Array.isArray(said['choices']) ? '' : isObject(said['error']) ? 'refused' : undefined),
  },
}

/** The tests of Chat Completions. */
export const chat: Suite = {
  framing: 'body',
  http: { path: '/chat/completions', headers: bearer },
  onlyHttp: true,
  env: [],
  values: { [MODEL]: firstModel },
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}
