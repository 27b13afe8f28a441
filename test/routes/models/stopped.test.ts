/**
 * A gateway stops while a client runs the tools that its turn has called. The request with their results has the whole
 * conversation, so the next gateway begins a turn with it.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'

let server: Server
let yaml: string
/** The next gateway, with the record of the one that stops. */
let next: TestGateway

/** A model that calls a tool, and says the result of it. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request)) as { messages: { role: string; content: string }[] }
    const last = messages.at(-1)!
    const calls = [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }]
    const message = last.role === 'user' ? { content: null, tool_calls: calls } : { content: `${last.content} it is` }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ choices: [{ message, finish_reason: last.role === 'user' ? 'tool_calls' : 'stop' }] }),
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  yaml = `agents: { model: { protocol: openai, url: 'http://127.0.0.1:${(server.address() as AddressInfo).port}' } }`
  next = await startGateway(yaml)
})
afterAll(async () => {
  await next.close()
  server.close()
})

/** A request of one API, and what its answer adds to the conversation. */
interface Api {
  path: string
  member: string
  tools: unknown
  added(body: never): { id: string; items: unknown[] }
  result(id: string): unknown
  said(body: never): string
}

const APIS: Record<string, Api> = {
  'Chat Completions': {
    path: '/v1/chat/completions',
    member: 'messages',
    tools: [{ type: 'function', function: { name: 'add' } }],
    added: ({ choices: [{ message }] }: { choices: [{ message: { tool_calls: [{ id: string }] } }] }) => ({
      id: message.tool_calls[0].id,
      items: [message],
    }),
    result: (id) => ({ role: 'tool', tool_call_id: id, content: 'three' }),
    said: ({ choices: [{ message }] }: { choices: [{ message: { content: string } }] }) => message.content,
  },
  Messages: {
    path: '/v1/messages',
    member: 'messages',
    tools: [{ name: 'add', input_schema: { type: 'object' } }],
    added: ({ content }: { content: [{ id: string }] }) => ({
      id: content[0].id,
      items: [{ role: 'assistant', content }],
    }),
    result: (id) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'three' }] }),
    said: ({ content }: { content: [{ text: string }] }) => content[0].text,
  },
  Responses: {
    path: '/v1/responses',
    member: 'input',
    tools: [{ type: 'function', name: 'add', parameters: { type: 'object' } }],
    added: ({ output }: { output: [{ call_id: string }] }) => ({ id: output[0].call_id, items: output }),
    result: (id) => ({ type: 'function_call_output', call_id: id, output: 'three' }),
    said: ({ output }: { output: [{ content: [{ text: string }] }] }) => output[0].content[0].text,
  },
}

test.each(Object.keys(APIS))('results of %s begin a turn with the conversation', async (name) => {
  const { path, member, tools, added, result, said } = APIS[name]!
  const send = async ({ url }: TestGateway, items: unknown[]): Promise<never> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'model', max_tokens: 100, tools, [member]: items }),
    })
    return (await response.json()) as never
  }
  const stops = await startGateway(yaml, { beside: next })
  const question = { role: 'user', content: 'add' }
  const { id, items } = added(await send(stops, [question]))
  await stops.close()
  expect(said(await send(next, [question, ...items, result(id)]))).toBe('three it is')
})
