// A scripted, offline model provider that speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Gemini,
// streamed.
// Real agents are run against it. What it answers is said by the newest text of the user:
//   [[tool NAME {json}]]                  calls that tool, then tells its result
//   [[calls [{"name","args"},…]]]         calls several tools at once
//   [[think]]                             thinks and answers
//   [[status N]]                          HTTP N
//   [[cut]]                               half an answer, then the connection breaks
//   [[slow]]                              a long answer, a word every 100 ms
// Everything else is answered by `mock says: TEXT (message N)`, where N counts the messages of the user.
import http from 'node:http'

const USAGE = { input: 10, cached: 4, output: 6 }
let ids = 0
const newId = (prefix) => {
  ids += 1
  return `${prefix}${ids}`
}
const list = (value) => (Array.isArray(value) ? value : value == null ? [] : [value])
const textOf = (content) =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => part?.text ?? (part?.content === undefined ? '' : textOf(part.content)))
        .join('')

/** The messages of a request: whose they are, their text, and whether they are results of tools. */
const READERS = {
  chat: ({ messages }) =>
    list(messages).map(({ role, content }) => ({ role, text: textOf(content), result: role === 'tool' })),
  responses: ({ input }) =>
    list(typeof input === 'string' ? { role: 'user', content: input } : input).map((item) =>
      item.type === 'function_call_output'
        ? { role: 'tool', text: textOf(item.output), result: true }
        : { role: item.role ?? 'assistant', text: textOf(item.content), result: false },
    ),
  messages: ({ messages }) =>
    list(messages).flatMap(({ role, content }) => {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)
      const results = blocks.filter(({ type }) => type === 'tool_result')
      const said = blocks.filter(({ type, text }) => type === 'text' && !/^<system-reminder>/.test(text))
      return [
        ...results.map((block) => ({ role: 'tool', text: textOf(block.content), result: true })),
        ...(said.length > 0 ? [{ role, text: textOf(said), result: false }] : []),
      ]
    }),
  gemini: ({ contents }) => list(contents).map(geminiMessage),
}

/** A content of Gemini: a result of a tool is one of the user. */
function geminiMessage({ role, parts }) {
  const result = list(parts).some(({ functionResponse }) => functionResponse !== undefined)
  const text = list(parts)
    .map((part) => (part.functionResponse ? JSON.stringify(part.functionResponse.response) : (part.text ?? '')))
    .join('')
  return { role: result ? 'tool' : role === 'model' ? 'assistant' : 'user', text, result }
}

/** What the script says to a request. */
function answerTo(messages) {
  const at = messages.findLastIndex(({ role, text }) => role === 'user' && text.trim() !== '')
  const text = messages[at]?.text ?? ''
  const results = messages.slice(at + 1).filter(({ result }) => result)
  const begin = text.lastIndexOf('[[')
  const [, name = '', arg = ''] =
    begin < 0 ? [] : (/^(\w+)\s*(.*)$/s.exec(text.slice(begin + 2, text.lastIndexOf(']]'))) ?? [])
  const count = messages.filter(({ role }) => role === 'user').length
  if (name === 'status') return { status: Number(arg) }
  if (name === 'slow') return { words: Array.from({ length: 200 }, (_, word) => `w${word} `), slow: true }
  if (name === 'cut') return { words: ['half ', 'an ', 'answer'], cut: true }
  if (name === 'think') return { thoughts: ['Let me ', 'think.'], words: ['thought ', 'about ', 'it'] }
  if (name === 'tool' || name === 'calls') {
    if (results.length > 0) return { words: [`tool results: ${results.map((one) => one.text).join(' | ')}`] }
    const [, tool, args] = /^(\S+)\s*(.*)$/s.exec(arg) ?? []
    const calls = name === 'calls' ? JSON.parse(arg) : [{ name: tool, args: JSON.parse(args || '{}') }]
    return { calls: calls.map((call) => ({ id: newId('call_'), name: call.name, args: JSON.stringify(call.args) })) }
  }
  return { words: [`mock says: ${text.trim()}`, ` (message ${count})`] }
}

async function* chatEvents(model, { thoughts = [], words = [], calls = [] }) {
  const base = { id: newId('chatcmpl-'), object: 'chat.completion.chunk', created: 1, model }
  const chunk = (delta, finish_reason = null) => ({ data: { ...base, choices: [{ index: 0, delta, finish_reason }] } })
  yield chunk({ role: 'assistant', content: '' })
  for (const text of thoughts) yield chunk({ reasoning_content: text })
  for (const text of words) yield chunk({ content: text })
  for (const [index, { id, name, args }] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] })
  }
  yield chunk({}, calls.length > 0 ? 'tool_calls' : 'stop')
  const prompt_tokens = USAGE.input + USAGE.cached
  const usage = { prompt_tokens, completion_tokens: USAGE.output, total_tokens: prompt_tokens + USAGE.output }
  yield { data: { ...base, choices: [], usage: { ...usage, prompt_tokens_details: { cached_tokens: USAGE.cached } } } }
  yield { data: '[DONE]' }
}

async function* responsesEvents(model, { thoughts = [], words = [], calls = [] }) {
  let sequence_number = -1
  const event = (type, rest) => {
    sequence_number += 1
    return { event: type, data: { type, sequence_number, ...rest } }
  }
  const response = { id: newId('resp_'), object: 'response', created_at: 1, model, output: [] }
  yield event('response.created', { response: { ...response, status: 'in_progress' } })
  const output = []
  const added = (item) => event('response.output_item.added', { output_index: output.length, item })
  const done = (item) => {
    output.push(item)
    return event('response.output_item.done', { output_index: output.length - 1, item })
  }
  if (thoughts.length > 0) {
    const item = { id: newId('rs_'), type: 'reasoning', summary: [] }
    const at = { item_id: item.id, output_index: output.length, summary_index: 0 }
    yield added(item)
    yield event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } })
    for (const delta of thoughts) yield event('response.reasoning_summary_text.delta', { ...at, delta })
    const part = { type: 'summary_text', text: thoughts.join('') }
    yield event('response.reasoning_summary_text.done', { ...at, text: part.text })
    yield event('response.reasoning_summary_part.done', { ...at, part })
    yield done({ ...item, summary: [part], encrypted_content: 'c2VhbA==' })
  }
  if (words.length > 0) {
    const item = { id: newId('msg_'), type: 'message', role: 'assistant' }
    const at = { item_id: item.id, output_index: output.length, content_index: 0 }
    const part = { type: 'output_text', text: words.join(''), annotations: [] }
    yield added({ ...item, status: 'in_progress', content: [] })
    yield event('response.content_part.added', { ...at, part: { ...part, text: '' } })
    for (const delta of words) yield event('response.output_text.delta', { ...at, delta })
    yield event('response.output_text.done', { ...at, text: part.text })
    yield event('response.content_part.done', { ...at, part })
    yield done({ ...item, status: 'completed', content: [part] })
  }
  for (const { id, name, args } of calls) {
    const item = { id: newId('fc_'), type: 'function_call', call_id: id, name }
    const at = { item_id: item.id, output_index: output.length }
    yield added({ ...item, status: 'in_progress', arguments: '' })
    yield event('response.function_call_arguments.delta', { ...at, delta: args })
    yield event('response.function_call_arguments.done', { ...at, arguments: args })
    yield done({ ...item, status: 'completed', arguments: args })
  }
  const input_tokens = USAGE.input + USAGE.cached
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: USAGE.cached },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + USAGE.output,
  }
  yield event('response.completed', { response: { ...response, status: 'completed', output, usage } })
}

async function* messagesEvents(model, { thoughts = [], words = [], calls = [] }) {
  const event = (type, rest) => ({ event: type, data: { type, ...rest } })
  const usage = { input_tokens: USAGE.input, cache_read_input_tokens: USAGE.cached, cache_creation_input_tokens: 0 }
  const message = { id: newId('msg_'), type: 'message', role: 'assistant', model, content: [], stop_reason: null }
  yield event('message_start', { message: { ...message, stop_sequence: null, usage: { ...usage, output_tokens: 1 } } })
  const blocks = [
    ...(thoughts.length > 0
      ? [
          {
            content_block: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              ...thoughts.map((thinking) => ({ type: 'thinking_delta', thinking })),
              { type: 'signature_delta', signature: 'c2VhbA==' },
            ],
          },
        ]
      : []),
    ...(words.length > 0
      ? [{ content_block: { type: 'text', text: '' }, deltas: words.map((text) => ({ type: 'text_delta', text })) }]
      : []),
    ...calls.map(({ id, name, args }) => ({
      content_block: { type: 'tool_use', id, name, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: args }],
    })),
  ]
  for (const [index, { content_block, deltas }] of blocks.entries()) {
    yield event('content_block_start', { index, content_block })
    for (const delta of deltas) yield event('content_block_delta', { index, delta })
    yield event('content_block_stop', { index })
  }
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  yield event('message_delta', {
    delta: { stop_reason, stop_sequence: null },
    usage: { ...usage, output_tokens: USAGE.output },
  })
  yield event('message_stop', {})
}

async function* geminiEvents(_model, { thoughts = [], words = [], calls = [] }) {
  const piece = (part, finishReason) => ({
    data: {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...(finishReason && { finishReason }) }],
      usageMetadata: { promptTokenCount: USAGE.input + USAGE.cached, candidatesTokenCount: USAGE.output },
    },
  })
  for (const text of thoughts) yield piece({ text, thought: true })
  for (const text of words) yield piece({ text })
  for (const { id, name, args } of calls) yield piece({ functionCall: { id, name, args: JSON.parse(args) } })
  yield piece({ text: '' }, 'STOP')
}

/** The same in one piece, which Claude Code asks for when it checks a model. */
async function wholeMessage(model, answer) {
  let message
  for await (const { data } of messagesEvents(model, answer)) message ??= data.message
  return { ...message, content: [{ type: 'text', text: answer.words?.join('') ?? '' }], stop_reason: 'end_turn' }
}

const WRITERS = { chat: chatEvents, responses: responsesEvents, messages: messagesEvents, gemini: geminiEvents }
const PATHS = [
  ['chat', /\/chat\/completions$/],
  ['responses', /\/responses$/],
  ['messages', /\/messages$/],
  ['gemini', /:streamGenerateContent$/],
]

function refusal(api, status) {
  const message = `mock refuses with ${status}`
  if (api === 'messages') return { type: 'error', error: { type: 'api_error', message } }
  return { error: { message, type: 'invalid_request_error', code: `mock_${status}`, param: null } }
}

const sse = ({ event, data }) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** Starts the provider on a free port. `requests` are the bodies that it got, oldest first, with their `api`. */
export async function startModel() {
  const requests = []
  const server = http.createServer(async (request, response) => {
    const path = new URL(request.url, 'http://model').pathname
    const parts = []
    for await (const part of request) parts.push(part)
    const json = (status, value) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    if (path.endsWith('/count_tokens')) return json(200, { input_tokens: 17 })
    const api = PATHS.find(([, pattern]) => pattern.test(path))?.[0]
    if (api === undefined || request.method !== 'POST') return json(404, refusal(undefined, 404))
    const body = JSON.parse(Buffer.concat(parts).toString())
    requests.push({ api, ...body })
    const answer = answerTo(READERS[api](body))
    if (answer.status !== undefined) return json(answer.status, refusal(api, answer.status))
    if (body.stream !== true && answer.cut) return void request.socket.destroy()
    if (body.stream !== true && api === 'messages') return json(200, await wholeMessage(body.model, answer))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let left = answer.cut ? 4 : Number.POSITIVE_INFINITY
    for await (const event of WRITERS[api](body.model, answer)) {
      if (response.destroyed) return
      response.write(sse(event))
      left -= 1
      if (left === 0) return void setTimeout(() => request.socket.destroy(), 20)
      if (answer.slow) await new Promise((resolve) => setTimeout(resolve, 100))
    }
    response.end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
