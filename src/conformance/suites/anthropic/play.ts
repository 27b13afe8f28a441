import {
  ANSWER,
  callsFor,
  isCount,
  isLow,
  isUnknown,
  type JsonRecord,
  modelPlayer,
  NAME,
  type Reaction,
  recordsIn,
  wholeAnswer,
} from '../../kit/index.ts'

const ONE = { type: 'model', id: NAME, display_name: 'Conformance 1', created_at: '2026-01-01T00:00:00Z' }
const MODELS = { data: [ONE], has_more: false, first_id: NAME, last_id: NAME }
const BAD = 'invalid_request_error'

/** Plays a server of the Messages API: models, counts, an answer to messages, a use of a tool where one is offered. */
export const play = modelPlayer({
  head: [{ header: ['request-id', 'req_conformance'] }],
  get: (path) => wholeAnswer(path.endsWith('/models') ? MODELS : ONE),
  refusal: (body, path) => {
    if (!body) return failure(400, BAD, 'The body is no JSON object.')
    if (recordsIn(body, 'messages').length === 0) return failure(400, BAD, 'There are no messages.')
    if (path.endsWith('/count_tokens')) return wholeAnswer({ input_tokens: 5 })
    if (!isCount(body['max_tokens'])) return failure(400, BAD, 'There is no max_tokens.')
    if (isUnknown(body)) return failure(404, 'not_found_error', 'There is no such model.')
    return hasStrayResult(body) ? failure(400, BAD, 'There is no such use of a tool.') : undefined
  },
  whole: messageOf,
  events,
  named: true,
})

function failure(status: number, type: string, message: string): readonly Reaction[] {
  return wholeAnswer({ type: 'error', error: { type, message }, request_id: 'req_conformance' }, status)
}

const blocksIn = (body: JsonRecord, kind: string): JsonRecord[] =>
  recordsIn(body, 'messages')
    .flatMap((message) => recordsIn(message, 'content'))
    .filter(({ type }) => type === kind)

function hasStrayResult(body: JsonRecord): boolean {
  const ids = blocksIn(body, 'tool_use').map(({ id }) => id)
  return blocksIn(body, 'tool_result').some(({ tool_use_id: id }) => !ids.includes(id))
}

function contentOf(body: JsonRecord): JsonRecord[] {
  const names = callsFor(body, ({ name }) => name, blocksIn(body, 'tool_result').length > 0)
  if (names.length === 0) return [{ type: 'text', text: ANSWER.join('') }]
  return names.map((name, at) => ({ type: 'tool_use', id: `toolu_conformance_${at}`, name, input: { city: 'Paris' } }))
}

function stopOf(body: JsonRecord): string {
  if (contentOf(body)[0]!['type'] === 'tool_use') return 'tool_use'
  return isLow(body['max_tokens']) ? 'max_tokens' : 'end_turn'
}

const outputOf = (body: JsonRecord): number => (stopOf(body) === 'max_tokens' ? 16 : 2)

function messageOf(body: JsonRecord): JsonRecord {
  return {
    id: 'msg_conformance',
    type: 'message',
    role: 'assistant',
    model: NAME,
    content: contentOf(body),
    stop_reason: stopOf(body),
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: outputOf(body) },
  }
}

function events(body: JsonRecord): JsonRecord[] {
  const usage = { input_tokens: 5, output_tokens: 1 }
  return [
    { type: 'message_start', message: { ...messageOf(body), content: [], stop_reason: null, usage } },
    ...contentOf(body).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stopOf(body), stop_sequence: null },
      usage: { output_tokens: outputOf(body) },
    },
    { type: 'message_stop' },
  ]
}

function blockEvents(block: JsonRecord, index: number): JsonRecord[] {
  const isUse = block['type'] === 'tool_use'
  const json = JSON.stringify(block['input'] ?? {})
  const deltas = isUse
    ? [json.slice(0, 3), json.slice(3)].map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    : ANSWER.map((text) => ({ type: 'text_delta', text }))
  return [
    { type: 'content_block_start', index, content_block: isUse ? { ...block, input: {} } : { type: 'text', text: '' } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}
