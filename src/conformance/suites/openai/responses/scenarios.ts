import {
  type AgentRun,
  bigText,
  bodyNamed,
  fetches,
  type JsonRecord,
  leaves,
  MODEL,
  RUN_ID,
  recordsIn,
  request,
  type Scenario,
  streaming,
} from '../../../kit/index.ts'
import { TOOL } from '../chat/scenarios.ts'

const ask = (input: unknown, more: JsonRecord = {}): JsonRecord => ({ model: MODEL, input, ...more })
const user = (content: unknown): JsonRecord => ({ type: 'message', role: 'user', content })
const OK = 'Reply with the word ok.'
const COUNT = 'Count from one to five hundred, one number a line.'
const WEATHER = 'Please call get_weather for Paris.'
const tools = [{ type: 'function', ...TOOL }]
const UNKNOWN = `no-such-model-${RUN_ID}`

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
  const results = made.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'Sunny, 21 degrees.' }))
  return ask([user(WEATHER), ...made, ...results], { tools })
}

const path = (earlier: readonly AgentRun[], rest = ''): string => `/responses/${firstId(earlier)}${rest}`

/** The requests to a server of the Responses API. */
export const scenarios: readonly Scenario[] = [
  fetches('models', '/models'),
  request('whole', ask(OK)),
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
  request('unicode', ask('Reply with this line: \u2028 “é” 😀')),
  request('big', ask(bigText(200_000))),
  request('limit', ask(COUNT, { max_output_tokens: 16 })),
  request('tool', ask(WEATHER, { tools })),
  request('parallel', ask('Please call get_weather for Paris and for Rome, both at once.', { tools })),
  request('no-tools', ask(WEATHER, { tools, tool_choice: 'none' })),
  { ...request('tool-result', ''), steps: (earlier) => [{ write: JSON.stringify(withResult(earlier)) }] },
  {
    ...request('chain', ''),
    steps: (earlier) => [{ write: JSON.stringify(ask('And again.', { previous_response_id: firstId(earlier) })) }],
  },
  request('unknown-chain', ask(OK, { previous_response_id: `resp_${RUN_ID}` })),
  streaming('stream', ask(OK)),
  streaming('stream-tool', ask(WEATHER, { tools })),
  request('no-json', '{"model":'),
  request('unknown-model', ask(OK, { model: UNKNOWN })),
  streaming('unknown-model-stream', ask(OK, { model: UNKNOWN })),
  leaves('cut', ask(COUNT)),
  request('after-cut', ask(OK)),
  fetches('get', (earlier) => path(earlier)),
  fetches('input-items', (earlier) => path(earlier, '/input_items')),
  fetches('delete', (earlier) => path(earlier), 'DELETE'),
  fetches('get-deleted', (earlier) => path(earlier)),
]
