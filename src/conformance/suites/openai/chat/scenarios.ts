import {
  bigText,
  bodyNamed,
  fetches,
  type JsonRecord,
  leaves,
  MODEL,
  objectIn,
  RUN_ID,
  recordsIn,
  request,
  type Scenario,
  streaming,
} from '../../../kit/index.ts'

/** The function that models under test may call. */
export const TOOL = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const
/** A PNG of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const user = (content: unknown): JsonRecord => ({ role: 'user', content })
const ask = (content: unknown, more: JsonRecord = {}): JsonRecord => ({
  model: MODEL,
  messages: [user(content)],
  ...more,
})
const OK = 'Reply with the word ok.'
const COUNT = 'Count from one to five hundred, one number a line.'
const WEATHER = 'Please call get_weather for Paris.'
const tools = [{ type: 'function', function: TOOL }]
const UNKNOWN = `no-such-model-${RUN_ID}`

const madeUp = {
  id: 'call_conformance',
  type: 'function',
  function: { name: TOOL.name, arguments: '{"city":"Paris"}' },
}

/** The conversation with the result of each call that the model has made, or of one that is made up. */
function withResult(calls: readonly JsonRecord[]): JsonRecord {
  const made = calls.length > 0 ? calls : [madeUp]
  const results = made.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Sunny, 21 degrees.' }))
  return {
    ...ask(''),
    messages: [user(WEATHER), { role: 'assistant', content: null, tool_calls: made }, ...results],
    tools,
  }
}

/** The requests to a server of Chat Completions. */
export const scenarios: readonly Scenario[] = [
  fetches('models', '/models'),
  fetches('model', `/models/${MODEL}`),
  request('whole', ask(OK)),
  request('conversation', {
    model: MODEL,
    messages: [
      { role: 'system', content: 'You are brief.' },
      user('My name is Ada.'),
      { role: 'assistant', content: 'Hello Ada.' },
      user([{ type: 'text', text: OK }]),
    ],
  }),
  request('unicode', ask('Reply with this line: \u2028 “é” 😀')),
  request('big', ask(bigText(200_000))),
  request('limit', ask(COUNT, { max_completion_tokens: 16 })),
  request('tool', ask(WEATHER, { tools })),
  request('parallel', ask('Please call get_weather for Paris and for Rome, both at once.', { tools })),
  request('no-tools', ask(WEATHER, { tools, tool_choice: 'none' })),
  {
    ...request('tool-result', ''),
    steps: (earlier) => {
      const [choice] = recordsIn(bodyNamed('tool', earlier), 'choices')
      return [{ write: JSON.stringify(withResult(recordsIn(objectIn(choice, 'message'), 'tool_calls'))) }]
    },
  },
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
  streaming('stream', ask(OK)),
  streaming('stream-usage', ask(OK, { stream_options: { include_usage: true } })),
  streaming('stream-tool', ask(WEATHER, { tools })),
  request('no-json', '{"model":'),
  request('no-messages', { model: MODEL }),
  request('unknown-model', { ...ask(OK), model: UNKNOWN }),
  streaming('unknown-model-stream', { ...ask(OK), model: UNKNOWN }),
  leaves('cut', ask(COUNT)),
  request('after-cut', ask(OK)),
]
