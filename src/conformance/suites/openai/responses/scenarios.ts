import {
  type AgentRun,
  bodyNamed,
  fetches,
  type JsonRecord,
  MODEL,
  modelScenarios,
  OK,
  RUN_ID,
  recordsIn,
  request,
  type Scenario,
  SUNNY,
  TOOL,
  WEATHER,
} from '../../../kit/index.ts'

const ask = (input: unknown, more: JsonRecord = {}): JsonRecord => ({ model: MODEL, input, ...more })
const user = (content: unknown): JsonRecord => ({ type: 'message', role: 'user', content })
const tools = [{ type: 'function', ...TOOL }]

const madeUp = { type: 'function_call', call_id: 'call_conformance', name: TOOL.name, arguments: '{"city":"Paris"}' }

/** The id of the answer to the first whole request; one that nobody has where there is none. */
export function firstId(earlier: readonly AgentRun[]): string {
  const { id } = bodyNamed('whole', earlier)
  return typeof id === 'string' ? id : 'resp_unknown'
}

/** The conversation with the result of each call that the model has made, or of one that is made up. */
function withResult(earlier: readonly AgentRun[]): JsonRecord {
  const calls = recordsIn(bodyNamed('tool', earlier), 'output').filter(({ type }) => type === 'function_call')
  const made = calls.length > 0 ? calls : [madeUp]
  const results = made.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: SUNNY }))
  return ask([user(WEATHER), ...made, ...results], { tools })
}

const path = (earlier: readonly AgentRun[], rest = ''): string => `/responses/${firstId(earlier)}${rest}`

/** The requests to a server of the Responses API. */
export const scenarios: readonly Scenario[] = [
  ...modelScenarios({
    ask: (input) => ({ input }),
    tools: { tools },
    none: 'none',
    limit: 'max_output_tokens',
    models: '/models',
    withResult,
  }),
  request(
    'items',
    ask(
      [
        user('My name is Ada.'),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello Ada.' }] },
        user([{ type: 'input_text', text: OK }]),
      ],
      { instructions: 'You are brief.', store: false },
    ),
  ),
  {
    ...request('chain', ''),
    steps: (earlier) => [{ write: JSON.stringify(ask('And again.', { previous_response_id: firstId(earlier) })) }],
  },
  request('unknown-chain', ask(OK, { previous_response_id: `resp_${RUN_ID}` })),
  fetches('get', (earlier) => path(earlier)),
  fetches('input-items', (earlier) => path(earlier, '/input_items')),
  fetches('delete', (earlier) => path(earlier), 'DELETE'),
  fetches('get-deleted', (earlier) => path(earlier)),
]
