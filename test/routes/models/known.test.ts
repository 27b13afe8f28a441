/**
 * What a client of a model API sends back of its conversation is what the session knows of it, in each of these
 * protocols, whole and streamed, with calls and without: the next turn goes on with the session.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'

const TWICE = new URL('../../kit/agents/says-twice.mjs', import.meta.url).pathname

let gateway: TestGateway
let server: Server

/** A model that calls its client's tool twice when it is told to add. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request)) as { messages: { role: string; content: string }[] }
    const { role, content } = messages.at(-1)!
    const calls = [1, 2].map((n) => ({
      id: `m${n}`,
      type: 'function',
      function: { name: 'add', arguments: `{"b": ${n}, "a": 1}` },
    }))
    const wants = role === 'user' && content.startsWith('add')
    const message = wants ? { content: 'Adding.', tool_calls: calls } : { content: `${role}: ${content}` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message, finish_reason: wants ? 'tool_calls' : 'stop' }] }))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  gateway = await startGateway(`
agents:
  model: { protocol: openai, url: '${url}' }
  twice: { protocol: native, command: ${process.execPath}, args: [${TWICE}], pool: { max: 99 } }
`)
})
afterAll(async () => {
  await gateway.close()
  server.close()
})

type Item = Record<string, unknown>
/** An answer: what the client adds to its conversation, the calls in it, and its text. */
interface Answer {
  items: Item[]
  calls: string[]
  text: string
}
/** A protocol, as its clients use it. */
interface Protocol {
  path: string
  body(conversation: Item[], model: string): object
  /** The members of a request that name its user. */
  of(user: string): object
  user(said: string): Item
  /** The results of calls, as further items. */
  results(calls: readonly string[]): Item[]
  read(answer: Item): Answer
  /** The whole answer, of the events of a stream. */
  gather(events: Item[]): Item
}

const SCHEMA = { type: 'object' }
const objects = (value: unknown): Item[] => value as Item[]
const textsOf = (items: Item[]): string => items.map((item) => String(item['text'] ?? '')).join('')

const PROTOCOLS: Record<string, Protocol> = {
  chat: {
    path: '/v1/chat/completions',
    body: (messages, model) => ({
      model,
      messages,
      tools: [{ type: 'function', function: { name: 'add', parameters: SCHEMA } }],
    }),
    of: (user) => ({ user }),
    user: (content) => ({ role: 'user', content }),
    results: (calls) => calls.map((id, at) => ({ role: 'tool', tool_call_id: id, content: `r${at}` })),
    read({ choices }) {
      const message = objects(choices)[0]!['message'] as Item
      const calls = objects(message['tool_calls'] ?? []).map((call) => String(call['id']))
      return { items: [message], calls, text: String(message['content']) }
    },
    gather(events) {
      const message: Item = { role: 'assistant', content: '' }
      for (const event of events) {
        const delta = objects(event['choices'])[0]?.['delta'] as Item | undefined
        if (delta?.['content']) message['content'] = `${message['content']}${delta['content']}`
        if (delta?.['tool_calls'])
          message['tool_calls'] = [...objects(message['tool_calls'] ?? []), ...objects(delta['tool_calls'])]
      }
      return { choices: [{ message }] }
    },
  },
  responses: {
    path: '/v1/responses',
    body: (input, model) => ({
      model,
      input,
      store: false,
      tools: [{ type: 'function', name: 'add', parameters: SCHEMA }],
    }),
    of: (user) => ({ safety_identifier: user }),
    user: (content) => ({ role: 'user', content }),
    results: (calls) => calls.map((id, at) => ({ type: 'function_call_output', call_id: id, output: `r${at}` })),
    read({ output }) {
      const items = objects(output)
      const calls = items.filter(({ type }) => type === 'function_call').map((item) => String(item['call_id']))
      return { items, calls, text: textsOf(items.flatMap((item) => objects(item['content'] ?? []))) }
    },
    gather: (events) => events.find(({ type }) => type === 'response.completed')!['response'] as Item,
  },
  messages: {
    path: '/v1/messages',
    body: (messages, model) => ({ model, max_tokens: 99, messages, tools: [{ name: 'add', input_schema: SCHEMA }] }),
    of: (user) => ({ metadata: { user_id: user } }),
    user: (content) => ({ role: 'user', content }),
    results: (calls) => [
      { role: 'user', content: calls.map((id, at) => ({ type: 'tool_result', tool_use_id: id, content: `r${at}` })) },
    ],
    read({ content }) {
      const blocks = objects(content)
      const calls = blocks.filter(({ type }) => type === 'tool_use').map((block) => String(block['id']))
      return { items: [{ role: 'assistant', content: blocks }], calls, text: textsOf(blocks) }
    },
    gather(events) {
      const blocks: Item[] = []
      const inputs: string[] = []
      for (const event of events) {
        const at = event['index'] as number
        const delta = event['delta'] as Item | undefined
        if (event['type'] === 'content_block_start') {
          blocks[at] = { ...(event['content_block'] as Item) }
          inputs[at] = ''
        } else if (event['type'] === 'content_block_delta' && delta?.['type'] === 'text_delta') {
          blocks[at]!['text'] = `${blocks[at]!['text']}${delta['text']}`
        } else if (delta?.['type'] === 'input_json_delta') inputs[at] += String(delta['partial_json'])
      }
      for (const [at, input] of inputs.entries()) if (input) blocks[at]!['input'] = JSON.parse(input)
      return { content: blocks }
    },
  },
}

/** Sends a conversation; the answer. */
async function send(
  protocol: Protocol,
  conversation: Item[],
  model: string,
  stream: boolean,
  more: object = {},
): Promise<Answer> {
  const response = await fetch(`${gateway.url}${protocol.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...protocol.body(conversation, model), ...more, stream }),
  })
  const body = await response.text()
  if (!stream) return protocol.read(JSON.parse(body) as Item)
  const data = body.split('\n').flatMap((line) => (line.startsWith('data: {') ? line.slice(6) : []))
  return protocol.read(protocol.gather(data.map((json) => JSON.parse(json) as Item)))
}

/** The sessions of the newest turns, the newest first. */
async function sessions(): Promise<string[]> {
  const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { session: string }[] }
  return turns.map(({ session }) => session)
}

const CASES = Object.keys(PROTOCOLS).flatMap((name) => [[name, 'whole'] as const, [name, 'streamed'] as const])

describe.each(CASES)('over %s, %s', (name, form) => {
  const protocol = PROTOCOLS[name]!
  const stream = form === 'streamed'
  const ask = (conversation: Item[], model: string, more: object = {}): Promise<Answer> =>
    send(protocol, conversation, model, stream, more)

  test('a conversation of texts is known', async () => {
    const first = [protocol.user(`hi ${name} ${form}`)]
    const answer = await ask(first, 'twice')
    expect(answer.text).toContain('I know.')
    const second = [...first, ...answer.items, protocol.user('and?')]
    const next = await ask(second, 'twice')
    expect(next.text).toContain('I know.')
    const last = await ask([...second, ...next.items, protocol.user('more?')], 'twice')
    expect(last.text).toContain('I know.')
    expect(new Set((await sessions()).slice(0, 3)).size).toBe(1)
  })

  test('users who say exactly the same have each their own session', async () => {
    const first = [protocol.user(`hello ${name} ${form}`)]
    const answers = [await ask(first, 'twice', protocol.of('one')), await ask(first, 'twice', protocol.of('two'))]
    const [ofTwo, ofOne] = await sessions()
    expect(ofTwo).not.toBe(ofOne)
    const second = [...first, ...answers[0]!.items, protocol.user('and?')]
    expect(answers[1]!.text).toBe(answers[0]!.text)
    await ask(second, 'twice', protocol.of('one'))
    expect((await sessions())[0]).toBe(ofOne)
    await ask(second, 'twice', protocol.of('two'))
    expect((await sessions())[0]).toBe(ofTwo)
    await ask(second, 'twice', protocol.of('three'))
    expect([ofOne, ofTwo]).not.toContain((await sessions())[0])
  })

  test('a conversation with calls is known', async () => {
    const first = [protocol.user(`add ${name} ${form}`)]
    const called = await ask(first, 'model')
    expect(called.calls.length).toBe(2)
    const second = [...first, ...called.items, ...protocol.results(called.calls)]
    const answer = await ask(second, 'model')
    expect(answer.text).toBe('tool: r1')
    const next = await ask([...second, ...answer.items, protocol.user('and?')], 'model')
    expect(next.text).toBe('user: and?')
    const [newest, before] = await sessions()
    expect(newest).toBe(before)
  })
})
