import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS } from '../../kit/models/index.ts'
import { type RawServer, startRawServer } from '../../kit/raw-server.ts'

const chat = MODELS['chat']!
const ANSWER = '{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}'
const KEYS = { OPENAI_API_KEY: 'k1', AZURE_OPENAI_API_KEY: 'k2', OPENROUTER_API_KEY: 'k3', GROQ_API_KEY: 'k4' }

const ask = async (gateway: TestGateway, model: string, prompt: string, stream = false) => {
  const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
  const answer = await fetch(gateway.url + chat.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      chat.write({ model, messages: [{ role: 'user', text: prompt }], maxTokens: 9, tools, stream }),
    ),
  })
  return chat.read(await answer.text())
}

describe('the example configuration of servers of models', () => {
  let server: RawServer
  let gateway: TestGateway

  beforeAll(async () => {
    server = await startRawServer()
    server.answers({ type: 'application/json', body: ANSWER })
    Object.assign(process.env, KEYS)
    const text = readFileSync(join(ROOT, 'examples/models.yaml'), 'utf8')
    // Every server is this one, by its own path.
    gateway = await startGateway(text.replace(/^store: .*$/m, '').replace(/https?:\/\/[^/"\s]+/g, server.url))
  })
  afterAll(async () => {
    for (const key of Object.keys(KEYS)) delete process.env[key]
    await gateway.close()
    await server.close()
  })

  const LIMIT = 'max_completion_tokens'
  test.each([
    ['local', '/v1/chat/completions', {}, 'echo', LIMIT],
    ['gpt', '/v1/chat/completions', { authorization: 'Bearer k1' }, 'gpt-5', LIMIT],
    [
      'azure',
      '/openai/deployments/gpt-5/chat/completions?api-version=2025-04-01-preview',
      { 'api-key': 'k2' },
      'default',
      LIMIT,
    ],
    [
      'openrouter',
      '/api/v1/chat/completions',
      { authorization: 'Bearer k3', 'x-title': 'Turnpike' },
      'qwen/qwen3-coder',
      LIMIT,
    ],
    ['groq', '/openai/v1/chat/completions', { authorization: 'Bearer k4' }, 'llama-3.3-70b-versatile', LIMIT],
    ['vllm', '/v1/chat/completions', { authorization: 'Bearer none' }, 'Qwen/Qwen3-8B', 'max_tokens'],
    ['ollama', '/v1/chat/completions', {}, 'qwen3', 'max_tokens'],
    ['llama', '/v1/chat/completions', {}, 'default', 'max_tokens'],
  ])('asks %s at its own path, with its own key', async (agent, path, headers, model, limit) => {
    expect(await ask(gateway, agent, 'hi')).toMatchObject({ text: 'Hello.', stop: 'end' })
    const asked = server.requests.at(-1)!
    expect(asked).toMatchObject({ method: 'POST', path, headers, body: { model, [limit]: 9 } })
  })
})

describe('the example server', () => {
  const child = spawn(process.execPath, [join(ROOT, 'examples/agents/model.mjs'), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let gateway: TestGateway
  let url: string

  beforeAll(async () => {
    url = String((await once(child.stdout, 'data'))[0]).trim()
    gateway = await startGateway(`agents: { local: { protocol: openai, url: "${url}" } }`)
  })
  afterAll(async () => {
    await gateway.close()
    child.kill()
  })

  test.each([true, false])('repeats what it is told, and calls tools (streamed: %s)', async (stream) => {
    expect(await ask(gateway, 'local', 'hi there', stream)).toMatchObject({
      text: 'You said: hi there (message 1 of this conversation)',
      stop: 'end',
    })
    const { calls, stop } = await ask(gateway, 'local', 'Please call add {"a":1}', stream)
    expect({ calls, stop }).toMatchObject({ calls: [{ name: 'add', args: '{"a":1}' }], stop: 'tools' })
  })

  test('refuses what it cannot read', async () => {
    const answer = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      body: '{}',
    })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }])
  })
})
