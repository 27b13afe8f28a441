#!/usr/bin/env node
// A server of OpenAI's Chat Completions without a model: it repeats what it is told, streamed or in one piece, and calls
// the tool that a message names, as in "call add {"a":1}".  node model.mjs PORT; 0 is any free port, which it prints.
import { createServer } from 'node:http'

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')

/** The answer to a conversation: text, or a call of one of the tools. */
function reply({ messages, tools: offered = [], tool_choice: choice }) {
  const tools = choice === 'none' ? [] : offered
  const last = messages.at(-1)
  const said = textOf(last.content)
  if (last.role === 'tool') return { text: `The tool said: ${said}` }
  const [, name, args] = /\bcall (\w+) *(\{.*\})?/s.exec(said) ?? []
  if (tools.some((tool) => tool.function?.name === name)) {
    return { call: { id: `call_${messages.length}`, type: 'function', function: { name, arguments: args ?? '{}' } } }
  }
  const turns = messages.filter(({ role }) => role === 'user').length
  return { text: `You said: ${said} (message ${turns} of this conversation)` }
}

const server = createServer(async (request, response) => {
  const json = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  if (!request.url.split('?')[0].endsWith('/chat/completions')) {
    json(404, {
      error: { message: `There is no ${request.url}.`, type: 'invalid_request_error', code: 'not_found', param: null },
    })
    return
  }
  let asked
  try {
    asked = JSON.parse(body)
    if (!(asked.messages.length > 0)) throw new Error('no messages')
  } catch {
    json(400, {
      error: {
        message: 'Send JSON with messages.',
        type: 'invalid_request_error',
        code: 'invalid_request',
        param: 'messages',
      },
    })
    return
  }
  const { text, call } = reply(asked)
  const finish_reason = call ? 'tool_calls' : 'stop'
  const words = text?.split(/(?<= )/) ?? []
  const [input, output] = [body.length >> 2, Math.max(1, words.length)]
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  const head = { id: `chatcmpl-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: asked.model ?? 'echo' }
  if (asked.stream !== true) {
    const message = { role: 'assistant', content: text ?? null, ...(call && { tool_calls: [call] }) }
    json(200, { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage })
    return
  }
  const send = (more) =>
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`)
  const chunk = (delta, reason = null) => send({ choices: [{ index: 0, delta, finish_reason: reason }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  chunk({ role: 'assistant', content: '' })
  for (const content of words) chunk({ content })
  if (call) chunk({ tool_calls: [{ index: 0, ...call }] })
  chunk({}, finish_reason)
  if (asked.stream_options?.include_usage) send({ choices: [], usage })
  response.end('data: [DONE]\n\n')
})
server.listen(Number(process.argv[2] ?? 9100), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/v1`)
})
