/** The conversation that a server of a model is sent: what clients and model said before, calls and results included. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'

const TOOLS = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]

let gateway: TestGateway
let server: Server
/** The messages of each request to the model. */
const asked: { role: string; content: unknown; tool_calls?: { id: string }[] }[][] = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request))
    asked.push(messages)
    const [last] = messages.slice(-1)
    const calls = [1, 2].map((n) => ({
      id: `c${n}`,
      type: 'function',
      function: { name: 'add', arguments: `{"n": ${n}.0}` },
    }))
    const wants = last.content === 'add'
    const message = wants ? { content: 'adding', tool_calls: calls } : { content: `${messages.length} messages` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message, finish_reason: wants ? 'tool_calls' : 'stop' }] }))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  gateway = await startGateway(`default: model\nagents:\n  model: { protocol: openai, url: '${url}' }\n`)
})
afterAll(async () => {
  await gateway.close()
  server.close()
})

type Message = Record<string, unknown>

/** A Chat client's request in the session `s`; the message of the answer. */
async function chat(messages: Message[]): Promise<Message & { tool_calls?: { id: string }[] }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'turnpike-session': 's' },
    body: JSON.stringify({ model: 'model', messages, tools: TOOLS }),
  })
  return ((await response.json()) as { choices: { message: never }[] }).choices[0]!.message
}

test('has the calls and results of an earlier turn, for a client that says only what is new', async () => {
  const user = { role: 'user', content: 'add' }
  const called = await chat([user])
  const results = called.tool_calls!.map(({ id }, at) => ({ role: 'tool', tool_call_id: id, content: `r${at}` }))
  await chat([user, { role: 'assistant', content: 'adding', tool_calls: called.tool_calls }, ...results.reverse()])
  const response = await fetch(`${gateway.url}/v1/turns/model`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'and now?', session: { id: 's' } }),
  })
  expect(await response.json()).toMatchObject({ outcome: 'completed' })
  const args = (n: number) => ({
    id: `c${n}`,
    type: 'function',
    function: { name: 'add', arguments: `{"n": ${n}.0}` },
  })
  expect(asked.at(-1)).toEqual([
    user,
    { role: 'assistant', content: 'adding', tool_calls: [args(1), args(2)] },
    { role: 'tool', tool_call_id: 'c1', content: 'r0' },
    { role: 'tool', tool_call_id: 'c2', content: 'r1' },
    { role: 'assistant', content: '4 messages' },
    { role: 'user', content: 'and now?' },
  ])
})
