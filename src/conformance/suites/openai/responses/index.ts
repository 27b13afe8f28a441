import { modelSuite } from '../../../kit/index.ts'
import { bearer } from '../common.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { scenarios } from './scenarios.ts'
/** The tests of the Responses API. */
export const responses = modelSuite({
  prefix: 'openai-responses',
  section: '1 Create a model response',
  http: { path: '/responses', headers: bearer },
  ask: (input) => ({ input }),
  isAnswer: ({ output }) => Array.isArray(output),
  end: '"output":[{',
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
})
