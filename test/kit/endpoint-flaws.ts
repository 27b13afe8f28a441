/** For every rule about servers of models, the flaw of one that breaks this rule and no other. */
import { isObject, type JsonRecord, objectIn, recordsIn } from '../../src/conformance/kit/index.ts'
import {
  type Answer,
  type Asked,
  at,
  broken,
  errors,
  event,
  events,
  type Flaw,
  headers,
  holds,
  isStream,
  status,
  text,
  whole,
} from './endpoints.ts'

const SUNNY = 'Sunny, 21'
const isWhole = (answer: Answer, { method }: Asked): boolean =>
  !isStream(answer) && method === 'POST' && answer.status === 200
const isType =
  (name: string) =>
  (one: JsonRecord): boolean =>
    one['type'] === name
const set =
  (more: JsonRecord) =>
  (one: JsonRecord): JsonRecord => ({ ...one, ...more })
const setAll =
  (more: JsonRecord) =>
  (one: JsonRecord): JsonRecord[] => [{ ...one, ...more }]
const marked: Flaw = text(
  (_answer, asked) => holds(asked, '“é”'),
  (all) => all.replace('All well.', 'All\ufffdwell.'),
)
const unended: Flaw = text(isStream, (all) => `${all.trimEnd()}\n`)
const plainRefusal = headers((answer, { body }) => answer.status === 404 && body['stream'] === true, {
  'content-type': 'text/plain',
})

/** The first choice of an answer or a chunk, changed. */
const choice =
  (change: (choice: JsonRecord) => JsonRecord) =>
  (body: JsonRecord): JsonRecord => ({ ...body, choices: recordsIn(body, 'choices').map(change) })
const message = (change: (message: JsonRecord) => JsonRecord) =>
  choice((one) => ({ ...one, message: change(objectIn(one, 'message')) }))
const deltaOf = (chunk: JsonRecord): JsonRecord => objectIn(recordsIn(chunk, 'choices')[0], 'delta')
const finishOf = (chunk: JsonRecord): unknown => recordsIn(chunk, 'choices')[0]?.['finish_reason']
const delta = (isIt: (delta: JsonRecord, at: number) => boolean, change: (delta: JsonRecord) => JsonRecord): Flaw =>
  event(
    (one, index) => isIt(deltaOf(one), index),
    (one) => [choice((own) => ({ ...own, delta: change(objectIn(own, 'delta')) }))(one)],
  )
const calls = (change: (call: JsonRecord) => JsonRecord) =>
  message((own) => (own['tool_calls'] ? { ...own, tool_calls: recordsIn(own, 'tool_calls').map(change) } : own))
const CALL = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
const piece = (change: (call: JsonRecord) => JsonRecord, isFirst: boolean): Flaw =>
  delta(
    (one) => recordsIn(one, 'tool_calls').some(({ id }) => (id !== undefined) === isFirst),
    (one) => ({ tool_calls: recordsIn(one, 'tool_calls').map(change) }),
  )

const CHAT: Readonly<Record<string, Flaw>> = {
  '6.list': at(/models$/, set({ object: 'models' })),
  '6.model': at(/models\/./, set({ id: 7 })),
  '1.answered': status(500, 'Ada', { error: {} }),
  '1.content-type': headers(isWhole, { 'content-type': 'text/plain' }),
  '2.object': whole(set({ created: 'now' })),
  '2.choice': whole(message(set({ role: 'system' }))),
  '2.content': whole(message((own) => (own['content'] === 'All well.' ? { ...own, content: '' } : own))),
  '2.usage': whole((body) => ({ ...body, usage: { ...objectIn(body, 'usage'), total_tokens: 99 } })),
  '2.length': whole(choice((own) => (own['finish_reason'] === 'length' ? { ...own, finish_reason: 'stop' } : own))),
  '2.schema': whole(message((own) => (String(own['content']).startsWith('{') ? { ...own, content: 'ok' } : own))),
  '3.content-type': headers(isStream, { 'content-type': 'text/plain' }),
  '3.events': events((all) => ['hello', ...all]),
  '3.blank-lines': unended,
  '3.chunk': event(() => true, setAll({ object: 'chunk' })),
  '3.same-id': event((_one, index) => index === 1, setAll({ id: 'another' })),
  '3.role-first': delta(
    (one) => one['role'] !== undefined,
    () => ({ content: '' }),
  ),
  '3.delta': delta((_one, index) => index === 1, set({ content: 7 })),
  '3.one-finish': event(
    (one) => finishOf(one) !== null && finishOf(one) !== undefined,
    (one) => [choice(set({ finish_reason: 'over' }))(one)],
  ),
  '3.finish-last': event(
    (one) => typeof finishOf(one) === 'string',
    (one) => [one, choice(set({ finish_reason: null }))(one)],
  ),
  '3.done': events((all) => all.filter((one) => one !== '[DONE]')),
  '3.usage': event(
    (one) => isObject(one['usage']),
    () => [],
  ),
  '4.call': whole(calls(set({ type: 'tool' }))),
  '4.finish': whole(choice((own) => (own['finish_reason'] === 'tool_calls' ? { ...own, finish_reason: 'stop' } : own))),
  '4.parallel': whole(calls(set({ id: 'same' }))),
  '4.none': whole((body, asked) =>
    asked.body['tool_choice'] === 'none' ? message(set({ tool_calls: [CALL] }))(body) : body,
  ),
  '4.result': status(500, SUNNY, { error: {} }),
  '4.unknown-result': (answer, asked, as) => (holds(asked, 'call_of_nobody') ? as({ messages: [{}] }) : answer),
  '4.stream-start': piece((call) => ({ ...call, function: { arguments: '' } }), true),
  '4.stream-arguments': piece((call) => ({ ...call, function: { arguments: '{' } }), false),
  '5.error': errors(() => ({ error: { message: 'no' } })),
  '5.bad-request': status(500),
  '5.unknown-model': status(400, 'no-such-model'),
  '5.before-stream': plainRefusal,
  '1.ends': broken('Ada'),
  '1.utf-8': marked,
}

const items =
  (type: string, change: (item: JsonRecord) => JsonRecord) =>
  (body: JsonRecord): JsonRecord => ({
    ...body,
    output: recordsIn(body, 'output').map((item) => (item['type'] === type ? change(item) : item)),
  })
const done = (type: string, change: (item: JsonRecord) => JsonRecord): Flaw =>
  event(isType('response.output_item.done'), (one) => {
    const item = objectIn(one, 'item')
    return [item['type'] === type ? { ...one, item: change(item) } : one]
  })
const inResponse =
  (change: (response: JsonRecord) => JsonRecord) =>
  (one: JsonRecord): JsonRecord[] => [{ ...one, response: change(objectIn(one, 'response')) }]
const numbered = (all: (JsonRecord | string)[]): JsonRecord[] =>
  all.filter(isObject).map((one, sequence_number) => ({ ...one, sequence_number }))

const RESPONSES: Readonly<Record<string, Flaw>> = {
  '1.answered': status(500, 'Ada', { error: {} }),
  '1.content-type': headers(isWhole, { 'content-type': 'text/plain' }),
  '2.object': whole(set({ object: 'chat.completion' })),
  '2.completed': whole((body) => (body['status'] === 'completed' ? { ...body, incomplete_details: {} } : body)),
  '2.message': whole(items('message', set({ role: 'user' }))),
  '2.usage': whole((body) => ({ ...body, usage: { ...objectIn(body, 'usage'), total_tokens: 99 } })),
  '2.incomplete': whole((body) => (body['status'] === 'incomplete' ? { ...body, status: 'completed' } : body)),
  '3.content-type': headers(isStream, { 'content-type': 'text/plain' }),
  '3.blank-lines': unended,
  '3.events': events((all) => ['hello', ...all]),
  '3.sequence': event((_one, index) => index === 2, setAll({ sequence_number: 7 })),
  '3.created': event(isType('response.created'), inResponse(set({ status: 'completed' }))),
  '3.one-end': events((all) => numbered([...all, { type: 'response.in_progress' }])),
  '3.items': events((all) =>
    numbered(all.flatMap((one) => (isObject(one) && one['type'] === 'response.output_item.done' ? [one, one] : [one]))),
  ),
  '3.deltas': events((all) =>
    numbered(all.toSorted((a, b) => Number(isDelta(b)) - Number(isDelta(a))).toSorted(createdFirst)),
  ),
  '3.text': event(isType('response.output_text.done'), setAll({ text: 'Nothing.' })),
  '3.item-text': done('message', (item) => ({ ...item, content: [] })),
  '3.final': event(isType('response.completed'), inResponse(set({ output: [] }))),
  '3.same-id': event(isType('response.completed'), inResponse(set({ id: 'resp_other' }))),
  '4.call': whole(items('function_call', set({ arguments: '{' }))),
  '4.parallel': whole(items('function_call', set({ call_id: 'same' }))),
  '4.none': whole((body, asked) =>
    asked.body['tool_choice'] === 'none' ? { ...body, output: [{ type: 'function_call', call_id: 'c' }] } : body,
  ),
  '4.result': status(500, SUNNY, { error: {} }),
  '4.stream-arguments': event(isType('response.function_call_arguments.delta'), setAll({ delta: '{' })),
  '5.error': errors(() => ({ error: { message: 'no' } })),
  '5.bad-request': status(500),
  '5.unknown-model': status(403, 'no-such-model'),
  '5.before-stream': plainRefusal,
  '6.chain': whole(set({ previous_response_id: null })),
  '6.unknown': (answer, asked, as) =>
    answer.status === 400 && holds(asked, 'previous_response_id') ? as({ input: 'hi' }) : answer,
  '7.get': at(/resp_conformance$/, set({ output: [] })),
  '7.input-items': at(/input_items$/, set({ data: [] })),
  '7.delete': at(/resp_conformance$/, set({ deleted: false }), 'DELETE'),
  '7.deleted': (answer, { method }) =>
    method === 'GET' && answer.status === 404 ? { ...answer, status: 200 } : answer,
  '1.ends': broken('Ada'),
  '1.utf-8': marked,
}

function isDelta(one: JsonRecord | string): boolean {
  return isObject(one) && String(one['type']).endsWith('.delta')
}

function createdFirst(a: JsonRecord | string, b: JsonRecord | string): number {
  const rank = (one: JsonRecord | string): number => Number(!(isObject(one) && one['type'] === 'response.created'))
  return rank(a) - rank(b)
}

const blocks =
  (change: (block: JsonRecord) => JsonRecord) =>
  (body: JsonRecord): JsonRecord => ({
    ...body,
    content: recordsIn(body, 'content').map((block) => (block['type'] === 'tool_use' ? change(block) : block)),
  })

const MESSAGES: Readonly<Record<string, Flaw>> = {
  '7.list': at(/models$/, set({ has_more: undefined })),
  '1.answered': status(500, 'Ada', { type: 'error', error: {} }),
  '1.content-type': headers(isWhole, { 'content-type': 'text/plain' }),
  '2.object': whole((body) => (body['type'] === 'message' ? { ...body, role: 'user' } : body)),
  '2.stop-reason': whole((body) => (body['stop_reason'] ? { ...body, stop_reason: 'stop' } : body)),
  '2.text': whole((body) => (body['stop_reason'] === 'end_turn' ? { ...body, content: [] } : body)),
  '2.usage': whole((body) => (body['usage'] ? { ...body, usage: { input_tokens: 5 } } : body)),
  '2.max-tokens': whole((body) => (body['stop_reason'] === 'max_tokens' ? { ...body, stop_reason: 'end_turn' } : body)),
  '3.content-type': headers(isStream, { 'content-type': 'text/plain' }),
  '3.blank-lines': unended,
  '3.events': text(isStream, (all) => all.replaceAll(/^event: .*\n/gm, '')),
  '3.message-start': event(isType('message_start'), (one) => [
    { ...one, message: { ...objectIn(one, 'message'), usage: {} } },
  ]),
  '3.blocks': event(isType('content_block_stop'), () => []),
  '3.deltas': event(isType('content_block_delta'), (one) => [
    {
      ...one,
      delta: {
        ...objectIn(one, 'delta'),
        type: objectIn(one, 'delta')['text'] ? 'thinking_delta' : 'input_json_delta',
      },
    },
  ]),
  '3.message-delta': event(isType('message_delta'), setAll({ usage: {} })),
  '3.message-stop': event(isType('message_stop'), () => []),
  '4.use': whole(blocks(set({ input: '{}' }))),
  '4.stop-reason': whole((body) => (body['stop_reason'] === 'tool_use' ? { ...body, stop_reason: 'end_turn' } : body)),
  '4.parallel': whole(blocks(set({ id: 'same' }))),
  '4.none': whole((body, asked) =>
    asked.body['tool_choice'] ? { ...body, content: [{ type: 'tool_use', id: 'toolu_1' }] } : body,
  ),
  '4.result': status(500, SUNNY, { type: 'error', error: {} }),
  '4.unknown-result': (answer, asked, as) =>
    holds(asked, 'toolu_of_nobody') ? as({ max_tokens: 99, messages: [{}] }) : answer,
  '4.stream-input': event(
    (one) => objectIn(one, 'delta')['partial_json'] !== undefined,
    (one) => [{ ...one, delta: { type: 'input_json_delta', partial_json: '{' } }],
  ),
  '5.error': errors(() => ({ error: 'no' })),
  '5.bad-request': status(422),
  '5.unknown-model': status(400, 'no-such-model'),
  '5.before-stream': plainRefusal,
  '5.request-id': (answer) => ({ ...answer, headers: { 'content-type': answer.headers['content-type']! } }),
  '6.count': at(/count_tokens$/, set({ input_tokens: 'five' }), 'POST'),
  '1.ends': broken('Ada'),
  '1.utf-8': marked,
}

/** The flaws by suite, and by rule without the name of its protocol. */
export const ENDPOINT_FLAWS: Readonly<Record<string, Readonly<Record<string, Flaw>>>> = {
  openai: CHAT,
  'openai@responses': RESPONSES,
  anthropic: MESSAGES,
}
