import {
  type AgentRun,
  bodyNamed,
  type JsonRecord,
  MODEL,
  modelScenarios,
  OK,
  recordsIn,
  request,
  type Scenario,
  SUNNY,
  TOOL,
  WEATHER,
} from '../../kit/index.ts'

const user = (content: unknown): JsonRecord => ({ role: 'user', content })
const ask = (content: unknown, more: JsonRecord = {}): JsonRecord => ({
  model: MODEL,
  max_tokens: 1024,
  messages: [user(content)],
  ...more,
})
const { parameters, ...named } = TOOL
const tools = [{ ...named, input_schema: parameters }]
const withoutLimit: JsonRecord = { model: MODEL, messages: [user(OK)] }

const madeUp = { type: 'tool_use', id: 'toolu_conformance', name: TOOL.name, input: { city: 'Paris' } }

/** The conversation with the result of each use of a tool by the model, or of one that is made up. */
function withResult(earlier: readonly AgentRun[]): JsonRecord {
  const content = recordsIn(bodyNamed('tool', earlier), 'content')
  const own = content.some(({ type }) => type === 'tool_use') ? content : [madeUp]
  const results = own.flatMap(({ type, id }) =>
    type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: SUNNY }] : [],
  )
  return ask('', { messages: [user(WEATHER), { role: 'assistant', content: own }, user(results)], tools })
}

/** The requests to a server of the Messages API. */
export const scenarios: readonly Scenario[] = [
  ...modelScenarios({
    ask: (prompt) => ({ max_tokens: 1024, messages: [user(prompt)] }),
    tools: { tools },
    none: { type: 'none' },
    limit: 'max_tokens',
    models: '/v1/models',
    withResult,
  }),
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
  request('unknown-result', ask([{ type: 'tool_result', tool_use_id: 'toolu_of_nobody', content: 'Sunny.' }])),
  request('no-messages', { model: MODEL, max_tokens: 1024 }),
  request('no-limit', withoutLimit),
  request('count', withoutLimit, { path: '/v1/messages/count_tokens' }),
]
