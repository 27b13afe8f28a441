import {
  ANSWER,
  callsFor,
  endpointPlayer,
  isLow,
  isObject,
  type JsonRecord,
  objectIn,
  type Reaction,
  recordsIn,
  streamedAnswer,
  wholeAnswer,
} from '../../../kit/index.ts'

const NAME = 'conformance-1'
const HEAD = { id: 'chatcmpl-conformance', created: 1_767_225_600, model: NAME } as const
const ONE = { id: NAME, object: 'model', created: HEAD.created, owned_by: 'conformance' } as const

/** Plays a server of Chat Completions: the list of models, an answer to messages, a call where a tool is offered. */
export const play = endpointPlayer((path, method, body): readonly Reaction[] => {
  if (method === 'GET') return wholeAnswer(path.endsWith('/models') ? { object: 'list', data: [ONE] } : ONE)
  if (!body) return failure(400, 'The body is no JSON object.', null, null)
  if (recordsIn(body, 'messages').length === 0) return failure(400, 'There are no messages.', 'messages', null)
  if (String(body['model']).startsWith('no-such')) {
    return failure(404, 'There is no such model.', 'model', 'model_not_found')
  }
  if (hasStrayResult(body)) return failure(400, 'There is no such call.', 'messages', null)
  return body['stream'] === true ? streamedAnswer(chunks(body), false) : wholeAnswer(completion(body))
})

function failure(status: number, message: string, param: string | null, code: string | null): readonly Reaction[] {
  return wholeAnswer({ error: { message, type: 'invalid_request_error', param, code } }, status)
}

const resultsIn = (body: JsonRecord): unknown[] =>
  recordsIn(body, 'messages').flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))

function hasStrayResult(body: JsonRecord): boolean {
  const made = recordsIn(body, 'messages').flatMap((message) => recordsIn(message, 'tool_calls'))
  return resultsIn(body).some((id) => made.every((call) => call['id'] !== id))
}

function toolCalls(body: JsonRecord): JsonRecord[] {
  const names = callsFor(body, (tool) => objectIn(tool, 'function')['name'], resultsIn(body).length > 0)
  return names.map((name, at) => ({
    id: `call_conformance_${at}`,
    type: 'function',
    function: { name, arguments: '{"city":"Paris"}' },
  }))
}

function finishOf(body: JsonRecord, calls: readonly JsonRecord[]): string {
  if (calls.length > 0) return 'tool_calls'
  return isLow(body['max_completion_tokens'] ?? body['max_tokens']) ? 'length' : 'stop'
}

const usageOf = (body: JsonRecord, calls: readonly JsonRecord[]): JsonRecord => {
  const completion_tokens = finishOf(body, calls) === 'length' ? 16 : 2
  return { prompt_tokens: 5, completion_tokens, total_tokens: 5 + completion_tokens }
}

/** The text of an answer: JSON of what the schema requires, where one is asked for. */
function textOf(body: JsonRecord): string {
  const { schema } = objectIn(objectIn(body, 'response_format'), 'json_schema')
  if (!isObject(schema)) return ANSWER.join('')
  const { required } = schema
  return JSON.stringify(Object.fromEntries((Array.isArray(required) ? required : []).map((key) => [String(key), 'ok'])))
}

function completion(body: JsonRecord): JsonRecord {
  const calls = toolCalls(body)
  const message = calls.length > 0 ? { content: null, tool_calls: calls } : { content: textOf(body), refusal: null }
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: finishOf(body, calls) }
  return { ...HEAD, object: 'chat.completion', choices: [choice], usage: usageOf(body, calls) }
}

function chunks(body: JsonRecord): (JsonRecord | string)[] {
  const calls = toolCalls(body)
  const chunk = (delta: JsonRecord, finish_reason: string | null = null): JsonRecord => ({
    ...HEAD,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const said = calls.length > 0 ? calls.flatMap(callPieces) : ANSWER.map((content) => ({ content }))
  const usage = objectIn(body, 'stream_options')['include_usage'] === true
  return [
    chunk({ role: 'assistant', content: '' }),
    ...said.map((delta) => chunk(delta)),
    chunk({}, finishOf(body, calls)),
    ...(usage ? [{ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: usageOf(body, calls) }] : []),
    '[DONE]',
  ]
}

function callPieces(call: JsonRecord, index: number): JsonRecord[] {
  const { name, arguments: args } = objectIn(call, 'function')
  return [
    { tool_calls: [{ ...call, index, function: { name, arguments: '' } }] },
    { tool_calls: [{ index, function: { arguments: args } }] },
  ]
}
