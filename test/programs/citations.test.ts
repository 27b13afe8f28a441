/** Sources of an answer, as the official clients of each API show them, whichever API the server of the model has. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { describeWith, installed } from './kit.ts'

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

const FILES = [
  'openai/index.mjs',
  '@anthropic-ai/sdk/index.mjs',
  'ai/dist/index.js',
  '@ai-sdk/openai/dist/index.js',
  '@ai-sdk/anthropic/dist/index.js',
].map(installed)

const PAGE = { title: 'Weather', url: 'https://weather.example/' }
const PLACE = { start_index: 9, end_index: 14 }
const PIECES = ['It rains ', 'today', '.'] as const

/** What the server of each API says, as server-sent events. */
const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  '/v1/chat/completions': [
    ...PIECES.map((content) => ({ choices: [{ delta: { content } }] })),
    { choices: [{ delta: { annotations: [{ type: 'url_citation', url_citation: { ...PLACE, ...PAGE } }] } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
  ],
  '/v1/responses': [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
    ...PIECES.slice(0, 2).map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
    {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      annotation: { type: 'url_citation', ...PLACE, ...PAGE },
    },
    { type: 'response.output_text.delta', output_index: 0, delta: PIECES[2] },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm' } },
    { type: 'response.completed', response: { status: 'completed' } },
  ],
  '/v1/messages': [
    { type: 'message_start', message: { usage: { input_tokens: 1 } } },
    ...PIECES.flatMap((text, index) => [
      { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
      ...(index === 1
        ? [{ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation: OF_PROVIDER() } }]
        : []),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
}

function OF_PROVIDER(): object {
  return { type: 'web_search_result_location', ...PAGE, cited_text: 'Rain.', encrypted_index: 'e' }
}

describeWith('the official clients show the sources of an answer', FILES, () => {
  let server: Server
  let gateway: TestGateway

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'text/event-stream')
      for (const event of ANSWERS[request.url!]!) {
        const { type } = event as { type?: string }
        response.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`)
      }
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    gateway = await startGateway(`
agents:
  chat: { protocol: openai, url: "${url}/v1" }
  responses: { protocol: openai@responses, url: "${url}/v1" }
  messages: { protocol: anthropic, url: "${url}" }
`)
  })
  afterAll(async () => {
    await gateway.close()
    server.close()
  })

  const openai = async (): Promise<Any> => {
    const { default: OpenAI } = (await import(installed('openai/index.mjs'))) as Any
    return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none', maxRetries: 0 })
  }
  const asked = { messages: [{ role: 'user', content: 'hi' }] }
  const found = { ...PAGE, ...PLACE }

  test.each(['chat', 'responses', 'messages'])('of a server of %s', async (model) => {
    const client = await openai()
    const whole = await client.chat.completions.create({ model, ...asked })
    const streamed = await client.chat.completions.stream({ model, ...asked }).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      expect(choices[0].message.content).toBe(PIECES.join(''))
      expect(choices[0].message.annotations).toMatchObject([{ type: 'url_citation', url_citation: found }])
    }

    const response = await client.responses.create({ model, input: 'hi' })
    const final = await client.responses.stream({ model, input: 'hi' }).finalResponse()
    for (const { output } of [response, final]) {
      const [{ text, annotations }] = output.at(-1).content
      expect([text, annotations]).toEqual([PIECES.join(''), [{ type: 'url_citation', ...found }]])
    }

    const { default: Anthropic } = (await import(installed('@anthropic-ai/sdk/index.mjs'))) as Any
    const { messages } = new Anthropic({ baseURL: gateway.url, apiKey: 'none', maxRetries: 0 })
    const request = { model, max_tokens: 9, ...asked }
    for (const { content } of [await messages.create(request), await messages.stream(request).finalMessage()]) {
      expect(content.map(({ text }: Any) => text).join('')).toBe(PIECES.join(''))
      const cited = content.filter(({ citations }: Any) => citations?.length > 0)
      expect(cited).toMatchObject([{ citations: [{ type: 'web_search_result_location', ...PAGE }] }])
      expect(cited[0].text.endsWith('today') || model === 'chat').toBe(true)
    }
  })

  test.each(['chat', 'responses', 'messages'])('of a server of %s, in the AI SDK', async (model) => {
    const { generateText } = (await import(installed('ai/dist/index.js'))) as Any
    const { createOpenAI } = (await import(installed('@ai-sdk/openai/dist/index.js'))) as Any
    const { createAnthropic } = (await import(installed('@ai-sdk/anthropic/dist/index.js'))) as Any
    const settings = { baseURL: `${gateway.url}/v1`, apiKey: 'none' }
    const provider = createOpenAI(settings)
    const models = [provider.chat(model), provider.responses(model), createAnthropic(settings)(model)]
    for (const one of models) {
      const { text, sources } = await generateText({ model: one, prompt: 'hi', maxRetries: 0 })
      expect(text).toBe(PIECES.join(''))
      expect(sources).toMatchObject([{ sourceType: 'url', ...PAGE }])
    }
  })
})
