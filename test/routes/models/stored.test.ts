/** Responses of the record: their input, and their end by a client that deletes them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS, type ModelServer, startModel } from '../../kit/models/index.ts'

const TWICE = new URL('../../kit/agents/says-twice.mjs', import.meta.url).pathname

let gateway: TestGateway
let model: ModelServer

/** A model that calls its client's tool when it is told to add, and an agent that keeps its sessions itself. */
beforeAll(async () => {
  const chat = MODELS['chat']!
  model = await startModel(chat, ({ messages }) => {
    const wants = messages.at(-1)!.text?.startsWith('add') === true && messages.at(-1)!.role === 'user'
    return wants
      ? { pieces: [{ call: { id: 'c1', name: 'add', args: '{}' } }], stop: 'tools' }
      : { pieces: [{ text: `heard ${messages.length}` }] }
  })
  gateway = await startGateway(`
default: model
agents:
  model: { ${chat.agent(model.url)} }
  twice: { protocol: native, command: ${process.execPath}, args: [${TWICE}] }
`)
})
afterAll(async () => {
  await gateway.close()
  await model.close()
})

interface Item {
  type: string
  call_id: string
  content?: { text: string }[]
  output?: string
}
interface Answer {
  id: string
  conversation: { id: string }
  output: Item[]
  error?: { message: string }
}

const call = (path: string, method = 'GET', body?: object): Promise<Response> =>
  fetch(`${gateway.url}/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
const say = async (input: unknown, more: object = {}): Promise<Answer> =>
  (await (await call('/responses', 'POST', { model: 'model', input, ...more })).json()) as Answer
const textOf = ({ output }: Answer): string | undefined => output.at(-1)?.content?.[0]?.text
const inputOf = async (id: string): Promise<(string | undefined)[]> => {
  const { data } = (await (await call(`/responses/${id}/input_items?order=asc`)).json()) as { data: Item[] }
  return data.map(({ content, output }) => content?.[0]?.text ?? output)
}

test.each(['model', 'twice'])('a deleted response of %s is not found, and nothing follows it', async (agent) => {
  const first = await say('one', { model: agent })
  const second = await say('two', { model: agent, previous_response_id: first.id })
  expect([await inputOf(first.id), await inputOf(second.id)]).toEqual([['one'], ['two']])
  const deleted = await call(`/responses/${second.id}`, 'DELETE')
  expect([deleted.status, await deleted.json()]).toEqual([200, { id: second.id, object: 'response', deleted: true }])
  for (const [path, method] of [
    ['', 'GET'],
    ['', 'DELETE'],
    ['/input_items', 'GET'],
  ] as const) {
    expect((await call(`/responses/${second.id}${path}`, method)).status).toBe(404)
  }
  expect((await say('three', { model: agent, previous_response_id: second.id })).error).toMatchObject({
    message: expect.stringContaining('no such turn'),
  })
  // What its agent has heard of the deleted turn is in no conversation that goes on from the one before.
  const third = await say('three', { model: agent, previous_response_id: first.id })
  expect(third.conversation.id).not.toBe(first.conversation.id)
  if (agent === 'model') expect(textOf(third)).toBe('heard 3')
  const told = first.output.flatMap(({ content }) => content?.[0]?.text ?? [])
  expect(await inputOf(third.id)).toEqual(['one', ...told, 'three'])
})

test('the session of a deleted turn goes on under its name without it', async () => {
  const conversation = 'mine'
  const first = await say('one', { conversation })
  const second = await say('two', { conversation })
  expect([textOf(first), textOf(second)]).toEqual(['heard 1', 'heard 3'])
  await call(`/responses/${second.id}`, 'DELETE')
  expect(textOf(await say('three', { conversation }))).toBe('heard 3')
})

test('the response of a call and the one of its result have each their own input, and go together', async () => {
  const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }]
  const asked = await say('add', { tools })
  const result = { type: 'function_call_output', call_id: asked.output[0]!.call_id, output: '7' }
  expect(await inputOf(asked.id)).toEqual(['add'])
  const answer = await say([result], { tools, previous_response_id: asked.id })
  expect(textOf(answer)).toBe('heard 3')
  expect(await inputOf(answer.id)).toEqual(['7'])
  expect((await call(`/responses/${answer.id}`, 'DELETE')).status).toBe(200)
  expect([(await call(`/responses/${asked.id}`)).status, (await call(`/responses/${answer.id}`)).status]).toEqual([
    404, 404,
  ])
})

test('a response is found as it was answered, with all that it was asked with', async () => {
  const tools = [{ type: 'custom', name: 'add', description: 'Adds.' }]
  const more = { tools, instructions: 'Be kind.', temperature: 0.5, metadata: { a: 'b' }, truncation: 'auto' }
  const system = { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be short.' }] }
  const asked = await say([system, { role: 'user', content: 'add' }], more)
  expect(asked).toMatchObject({ ...more, previous_response_id: null, output: [{ type: 'custom_tool_call' }] })
  const result = { type: 'custom_tool_call_output', call_id: asked.output[0]!.call_id, output: '7' }
  const answer = await say([result], { previous_response_id: asked.id, instructions: 'Be brief.' })
  expect(answer).toMatchObject({ previous_response_id: asked.id, instructions: 'Be brief.', tools: [] })
  const itemsOf = async (id: string, query: string): Promise<unknown> =>
    ((await (await call(`/responses/${id}/input_items?${query}`)).json()) as { data: unknown }).data
  for (const one of [asked, answer]) {
    expect(await (await call(`/responses/${one.id}`)).json()).toEqual(one)
    const events = await (await call(`/responses/${one.id}?stream=true`)).text()
    const last = events.trim().split('\n').at(-1)!.slice('data: '.length)
    expect((JSON.parse(last) as { response: unknown }).response).toEqual(one)
  }
  const { call_id } = result
  expect(await itemsOf(answer.id, '')).toMatchObject([{ type: 'custom_tool_call_output', call_id, output: '7' }])
  expect(await itemsOf(asked.id, 'order=asc')).toMatchObject([system, { role: 'user' }])
  expect(await itemsOf(asked.id, 'limit=1')).toMatchObject([{ role: 'user' }])
})

test('a response in the background that asks goes on in the background', async () => {
  const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }]
  const until = async (id: string): Promise<Answer & { status: string }> => {
    const one = (await (await call(`/responses/${id}`)).json()) as Answer & { status: string }
    return one.status === 'completed' ? one : until(id)
  }
  const asked = await say('add', { tools, background: true })
  expect(asked).toMatchObject({ status: 'queued', background: true })
  const { output } = await until(asked.id)
  const result = { type: 'function_call_output', call_id: output[0]!.call_id, output: '7' }
  const answer = await say([result], { tools, background: true, previous_response_id: asked.id })
  expect(answer).toMatchObject({ status: 'queued', output: [] })
  expect(textOf(await until(answer.id))).toBe('heard 3')
  const again = await say('add', { tools, background: true, previous_response_id: answer.id })
  await until(again.id)
  const instead = await say('stop', { tools, background: true, previous_response_id: again.id })
  expect(textOf(await until(instead.id))).toMatch(/^heard \d+$/)
})

test('a response whose calls wait for results is cancelled by deleting it', async () => {
  const asked = await say('add', { tools: [{ type: 'function', name: 'add' }] })
  expect((await call(`/responses/${asked.id}`, 'DELETE')).status).toBe(200)
  expect((await call(`/responses/${asked.id}`)).status).toBe(404)
})

test('a turn of any client is deleted, and told its input, by its own id', async () => {
  const { id } = await say('hello')
  const turn = id.slice('resp_'.length).replaceAll('_u', '_').replaceAll('_d', '.')
  const input = await (await call(`/turns/${turn}/input`)).json()
  expect(input).toMatchObject({ messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }] })
  expect((await call(`/turns/${turn}`, 'DELETE')).status).toBe(200)
  expect((await call(`/turns/${turn}`)).status).toBe(404)
})
