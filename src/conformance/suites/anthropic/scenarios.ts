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
} from '../../kit/index.ts'

/** The tool that models under test may use. */
export const TOOL = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const

const user = (content: unknown): JsonRecord => ({ role: 'user', content })
const ask = (content: unknown, more: JsonRecord = {}): JsonRecord => ({
  model: MODEL,
  max_tokens: 1024,
  messages: [user(content)],
  ...more,
})
const OK = 'Reply with the word ok.'
const COUNT = 'Count from one to five hundred, one number a line.'
const WEATHER = 'Please call get_weather for Paris.'
const tools = [TOOL]
const UNKNOWN = `no-such-model-${RUN_ID}`
const withoutLimit: JsonRecord = { model: MODEL, messages: [user(OK)] }

const madeUp = { type: 'tool_use', id: 'toolu_conformance', name: TOOL.name, input: { city: 'Paris' } }

/** The conversation with the result of each use of a tool by the model, or of one that is made up. */
function withResult(earlier: readonly AgentRun[]): JsonRecord {
  const content = recordsIn(bodyNamed('tool', earlier), 'content')
  const own = content.some(({ type }) => type === 'tool_use') ? content : [madeUp]
  const results = own.flatMap(({ type, id }) =>
    type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'Sunny, 21 degrees.' }] : [],
  )
  return ask('', { messages: [user(WEATHER), { role: 'assistant', content: own }, user(results)], tools })
}

/** The requests to a server of the Messages API. */
export const scenarios: readonly Scenario[] = [
  fetches('models', '/v1/models'),
  request('whole', ask(OK)),
  request(
    'conversation',
    ask('', {
      system: [{ type: 'text', text: 'You are brief.' }],
      messages: [
        user('My name is Ada.'),
        { role: 'assistant', content: 'Hello Ada.' },
        user([{ type: 'text', text: OK }]),
      ],
    }),
  ),
  request('unicode', ask('Reply with this line: \u2028 “é” 😀')),
  request('big', ask(bigText(200_000))),
  request('limit', ask(COUNT, { max_tokens: 16 })),
  request('tool', ask(WEATHER, { tools })),
  request('parallel', ask('Please call get_weather for Paris and for Rome, both at once.', { tools })),
  request('no-tools', ask(WEATHER, { tools, tool_choice: { type: 'none' } })),
  { ...request('tool-result', ''), steps: (earlier) => [{ write: JSON.stringify(withResult(earlier)) }] },
  request('unknown-result', ask([{ type: 'tool_result', tool_use_id: 'toolu_of_nobody', content: 'Sunny.' }])),
  streaming('stream', ask(OK)),
  streaming('stream-tool', ask(WEATHER, { tools })),
  request('no-json', '{"model":'),
  request('no-messages', { model: MODEL, max_tokens: 1024 }),
  request('no-limit', withoutLimit),
  request('unknown-model', ask(OK, { model: UNKNOWN })),
  streaming('unknown-model-stream', ask(OK, { model: UNKNOWN })),
  request('count', withoutLimit, { path: '/v1/messages/count_tokens' }),
  leaves('cut', ask(COUNT)),
  request('after-cut', ask(OK)),
]
