import {
  ANSWER,
  CREATED,
  callsFor,
  isLow,
  isObject,
  isUnknown,
  type JsonRecord,
  modelPlayer,
  NAME,
  objectIn,
  recordsIn,
  wholeAnswer,
} from '../../../kit/index.ts'
import { failure, MODELS, NO_MODEL, ONE } from '../common.ts'

const HEAD = { id: 'chatcmpl-conformance', created: CREATED, model: NAME } as const

/** Plays a server of Chat Completions: the list of models, an answer to messages, a call where a tool is offered. */
export const play = modelPlayer({
  get: (path) => wholeAnswer(path.endsWith('/models') ? MODELS : ONE),
  refusal: (body) => {
    if (!body) return failure(400, 'The body is no JSON object.')
    if (recordsIn(body, 'messages').length === 0) return failure(400, 'There are no messages.', 'messages')
    if (isUnknown(body)) return NO_MODEL
    return hasStrayResult(body) ? failure(400, 'There is no such call.', 'messages') : undefined
  },
  whole: completion,
  events: chunks,
  named: false,
})

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
