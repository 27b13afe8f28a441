import {
  bodyNamed,
  fetches,
  type JsonRecord,
  MODEL,
  modelScenarios,
  OK,
  objectIn,
  recordsIn,
  request,
  type Scenario,
  SUNNY,
  streaming,
  TOOL,
  WEATHER,
} from '../../../kit/index.ts'
/** A PNG of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const user = (content: unknown): JsonRecord => ({ role: 'user', content })
const ask = (content: unknown, more: JsonRecord = {}): JsonRecord => ({
  model: MODEL,
  messages: [user(content)],
  ...more,
})
const tools = [{ type: 'function', function: TOOL }]
const madeUp = {
  id: 'call_conformance',
  type: 'function',
  function: { name: TOOL.name, arguments: '{"city":"Paris"}' },
}

/** The conversation with the result of each call that the model has made, or of one that is made up. */
function withResult(calls: readonly JsonRecord[]): JsonRecord {
  const made = calls.length > 0 ? calls : [madeUp]
  const results = made.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: SUNNY }))
  return {
    ...ask(''),
    messages: [user(WEATHER), { role: 'assistant', content: null, tool_calls: made }, ...results],
    tools,
  }
}

/** The requests to a server of Chat Completions. */
export const scenarios: readonly Scenario[] = [
  ...modelScenarios({
    ask: (prompt) => ({ messages: [user(prompt)] }),
    tools: { tools },
    none: 'none',
    limit: 'max_completion_tokens',
    models: '/models',
    withResult: (earlier) => {
      const [choice] = recordsIn(bodyNamed('tool', earlier), 'choices')
      return withResult(recordsIn(objectIn(choice, 'message'), 'tool_calls'))
    },
  }),
  fetches('model', `/models/${MODEL}`),
  request('conversation', {
    model: MODEL,
    messages: [
      { role: 'system', content: 'You are brief.' },
      user('My name is Ada.'),
      { role: 'assistant', content: 'Hello Ada.' },
      user([{ type: 'text', text: OK }]),
    ],
  }),
  request('unknown-result', {
    ...ask(''),
    messages: [user(OK), { role: 'tool', tool_call_id: 'call_of_nobody', content: 'Sunny.' }],
  }),
  request(
    'schema',
    ask('Give the word ok.', {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'word',
          strict: true,
          schema: {
            type: 'object',
            properties: { word: { type: 'string' } },
            required: ['word'],
            additionalProperties: false,
          },
        },
      },
    }),
  ),
  request(
    'image',
    ask([
      { type: 'text', text: OK },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]),
  ),
  streaming('stream-usage', ask(OK, { stream_options: { include_usage: true } })),
  request('no-messages', { model: MODEL }),
]
