import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { type Answered, type Asked, MODELS, type Said } from '../../kit/models/index.ts'

const STAGED = new URL('../../kit/agents/staged.mjs', import.meta.url).pathname

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway(`
default: staged
agents:
  staged: { protocol: native, command: ${process.execPath}, args: [${STAGED}] }
`)
})
afterAll(() => gateway.close())

/** What an agent says around a question: its message, its call and its reasoning go on after the answer. */
const STAGES = [
  [
    { type: 'turn-started' },
    { type: 'message-start', message: 'm', role: 'assistant' },
    { type: 'reasoning-delta', message: 'm', text: 'Thinks. ' },
    { type: 'text-delta', message: 'm', text: 'Before. ' },
    { type: 'tool-call', tool: 'c', name: 'add', args: {}, executor: 'client' },
    { type: 'ask', ask: 'c', question: { kind: 'tool', tool: 'c' } },
  ],
  [
    { type: 'tool-end', tool: 'c', status: 'ok', parts: [] },
    { type: 'text-delta', message: 'm', text: 'After.' },
    { type: 'message-end', message: 'm' },
    { type: 'turn-end', outcome: 'completed', stop: 'end' },
  ],
]

describe.each(Object.entries(MODELS))('a message that goes on after a call, for %s', (name, protocol) => {
  const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
  const ask = async (messages: Said[], more: Partial<Asked>): Promise<Answered> => {
    const response = await fetch(gateway.url + protocol.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'turnpike-session': name },
      body: JSON.stringify(protocol.write({ model: 'staged', messages, tools, ...more })),
    })
    return protocol.read(await response.text())
  }

  test.each([true, false])('streamed: %s', async (stream) => {
    const user: Said = { role: 'user', text: JSON.stringify(STAGES) }
    const first = await ask([user], { stream })
    expect([first.text, first.stop, first.calls.length]).toEqual(['Before. ', 'tools', 1])
    const { calls } = first
    const result: Said = { role: 'tool', result: calls[0]!.id, text: '3' }
    const second = await ask([user, { role: 'assistant', text: first.text, calls }, result], { stream })
    expect([second.text, second.stop, second.calls]).toEqual(['After.', 'end', []])
  })
})
