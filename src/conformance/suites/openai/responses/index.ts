import { firstModel, type HostileFacts, isObject, MODEL, type Suite } from '../../../kit/index.ts'
import { bearer } from '../key.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { scenarios } from './scenarios.ts'

const hostile: HostileFacts = {
  prefix: 'openai-responses',
  form: 'body',
  section: '1 Create a model response',
  isLast: (frame) => frame.includes('"output":[{'),
  clients: { 'unknown-messages-and-fields': 'answer', banner: 'honest', 'answers-twice': 'honest' },
  agents: { 'unknown-messages-and-fields': 'advised' },
  turns: {
    many: false,
    request: (_id, input) => ({ model: MODEL, input }),
    endOf: (said) => (Array.isArray(said['output']) ? '' : isObject(said['error']) ? 'refused' : undefined),
  },
}

/** The tests of the Responses API. */
export const responses: Suite = {
  framing: 'body',
  http: { path: '/responses', headers: bearer },
  onlyHttp: true,
  env: [],
  values: { [MODEL]: firstModel },
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}
