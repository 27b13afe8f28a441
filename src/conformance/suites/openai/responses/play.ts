import {
  ANSWER,
  CREATED,
  callsFor,
  isLow,
  isUnknown,
  type JsonRecord,
  modelPlayer,
  NAME,
  type Reaction,
  recordsIn,
  wholeAnswer,
} from '../../../kit/index.ts'
import { failure, MODELS, NO_MODEL } from '../common.ts'

const ID = 'resp_conformance'

/** Plays a server of the Responses API: answers, a call where a tool is offered, and one kept response. */
export const play = modelPlayer({
  get: (path, method) => {
    if (method === 'DELETE') return wholeAnswer({ id: ID, object: 'response', deleted: true })
    return path.endsWith('/models') ? wholeAnswer(MODELS) : kept(path)
  },
  refusal: (body) => {
    if (!body) return failure(400, 'The body is no JSON object.')
    if (isUnknown(body)) return NO_MODEL
    return [ID, null, undefined].includes(body['previous_response_id'] as string | null) ? undefined : NO_RESPONSE
  },
  whole: (body) => responseOf(body, outputOf(body)),
  events,
  named: true,
})

const NO_RESPONSE = failure(400, 'There is no such response.', 'previous_response_id', 'previous_response_not_found')

function kept(path: string): readonly Reaction[] {
  if (path.endsWith('/input_items')) {
    const item = { type: 'message', id: 'msg_input', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }
    return wholeAnswer({ object: 'list', data: [item], first_id: item.id, last_id: item.id, has_more: false })
  }
  return path.endsWith(ID) ? wholeAnswer(responseOf({}, outputOf({}))) : failure(404, 'There is no such response.')
}

const messageOf = (content: readonly JsonRecord[], status: string): JsonRecord => ({
  type: 'message',
  id: 'msg_conformance',
  role: 'assistant',
  status,
  content,
})
const textPart = (text: string): JsonRecord => ({ type: 'output_text', text, annotations: [] })

function outputOf(body: JsonRecord): JsonRecord[] {
  const hasResult = recordsIn(body, 'input').some(({ type }) => type === 'function_call_output')
  const calls = callsFor(body, ({ type, name }) => (type === 'function' ? name : undefined), hasResult)
  if (calls.length === 0) return [messageOf([textPart(ANSWER.join(''))], 'completed')]
  return calls.map((name, at) => ({
    type: 'function_call',
    id: `fc_conformance_${at}`,
    call_id: `call_conformance_${at}`,
    name,
    arguments: '{"city":"Paris"}',
    status: 'completed',
  }))
}

function responseOf(body: JsonRecord, output: readonly JsonRecord[], status?: string): JsonRecord {
  const isCut = isLow(body['max_output_tokens'])
  const [input_tokens, output_tokens] = [5, isCut ? 16 : 2]
  return {
    id: ID,
    object: 'response',
    created_at: CREATED,
    model: NAME,
    status: status ?? (isCut ? 'incomplete' : 'completed'),
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    previous_response_id: body['previous_response_id'] ?? null,
    output,
    usage: status === undefined ? { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens } : null,
  }
}

function events(body: JsonRecord): JsonRecord[] {
  const output = outputOf(body)
  const begun = responseOf(body, [], 'in_progress')
  const all = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, at) => (item['type'] === 'message' ? messageEvents(item, at) : callEvents(item, at))),
    {
      type: isLow(body['max_output_tokens']) ? 'response.incomplete' : 'response.completed',
      response: responseOf(body, output),
    },
  ]
  return all.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function messageEvents(item: JsonRecord, output_index: number): ({ type: string } & JsonRecord)[] {
  const at = { item_id: item['id'], output_index, content_index: 0 }
  const text = ANSWER.join('')
  return [
    { type: 'response.output_item.added', output_index, item: messageOf([], 'in_progress') },
    { type: 'response.content_part.added', ...at, part: textPart('') },
    ...ANSWER.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: textPart(text) },
    { type: 'response.output_item.done', output_index, item },
  ]
}

function callEvents(item: JsonRecord, output_index: number): ({ type: string } & JsonRecord)[] {
  const { id: item_id, arguments: args } = item
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', item_id, output_index, delta: args },
    { type: 'response.function_call_arguments.done', item_id, output_index, arguments: args },
    { type: 'response.output_item.done', output_index, item },
  ]
}
