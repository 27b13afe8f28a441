/** The official clients of Anthropic's Messages, unmodified: the SDK, its stream helper, and the AI SDK. */
import { installed } from './kit.ts'
import { type Asked, type Client, PARAMETERS, type Place, type Shown } from './openai-clients.ts'

/** The files that they are loaded from. */
export const FILES = ['@anthropic-ai/sdk/index.mjs', 'ai/dist/index.js', '@ai-sdk/anthropic/dist/index.js'].map(
  installed,
)

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

const picture = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })

/** The Anthropic SDK, on its client of one gateway. */
export async function anthropicSdk({ url, retries = 0 }: Place): Promise<Any> {
  const { default: Anthropic } = (await import(installed('@anthropic-ai/sdk/index.mjs'))) as Any
  return new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: retries })
}

async function anthropic(place: Place, helper: boolean): Promise<Client> {
  const { messages } = await anthropicSdk(place)
  const request = ({ model, prompt, image, tools }: Asked): Any => ({
    model,
    max_tokens: 1000,
    messages: [{ role: 'user', content: image ? [{ type: 'text', text: prompt }, picture(image)] : prompt }],
    ...(tools && { tools: Object.entries(tools).map(([name, input_schema]) => ({ name, input_schema })) }),
  })
  const answer = async (body: Any, { stream, signal }: Pick<Asked, 'stream' | 'signal'>): Promise<Any> => {
    if (!stream) return messages.create(body, { signal })
    if (helper) return messages.stream(body, { signal }).finalMessage()
    return iterated(await messages.create({ ...body, stream: true }, { signal }))
  }
  return {
    ask: async (asked) => shown(await answer(request(asked), asked)),
    async withTool(asked, add) {
      const body = request({ ...asked, tools: { add: PARAMETERS } })
      for (;;) {
        const { content } = await answer(body, asked)
        const calls = content.filter(({ type }: Any) => type === 'tool_use')
        if (calls.length === 0) return { text: textOf(content) }
        const results = calls.map(({ id, input }: Any) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: add(input),
        }))
        body.messages = [...body.messages, { role: 'assistant', content }, { role: 'user', content: results }]
      }
    },
    async structured(asked, schema) {
      const format = { type: 'json_schema', schema }
      const { content } = await messages.create({ ...request(asked), output_config: { format } })
      return JSON.parse(textOf(content))
    },
  }
}

const textOf = (content: Any): string => content.map(({ text = '' }: Any) => text).join('')

function shown({ content, stop_reason: finish, usage }: Any): Shown {
  const calls = content.filter(({ type }: Any) => type === 'tool_use')
  const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
  return {
    text: textOf(content),
    finish,
    calls: calls.map(({ id, name, input }: Any) => ({ id, name, args: input })),
    tokens: [usage.input_tokens + cached, usage.output_tokens],
  }
}

/** An answer as those put it together who iterate over the events; without its end it has none. */
async function iterated(events: AsyncIterable<Any>): Promise<Any> {
  const message: Any = { content: [] }
  const args: string[] = []
  for await (const { type, index, message: begun, content_block: block, delta, usage } of events) {
    if (type === 'message_start') message.usage = begun.usage
    else if (type === 'content_block_start') message.content[index] = block
    else if (type === 'message_delta') Object.assign(message, delta, { usage: { ...message.usage, ...usage } })
    else if (delta?.type === 'text_delta') message.content[index].text += delta.text
    else if (delta?.type === 'thinking_delta') message.content[index].thinking += delta.thinking
    else if (delta?.type === 'signature_delta') message.content[index].signature = delta.signature
    else if (delta?.type === 'input_json_delta') args[index] = (args[index] ?? '') + delta.partial_json
  }
  for (const [index, json] of args.entries()) if (json !== undefined) message.content[index].input = JSON.parse(json)
  return message
}

async function aiSdk({ url, retries = 0 }: Place): Promise<Client> {
  const ai = (await import(installed('ai/dist/index.js'))) as Any
  const { createAnthropic } = (await import(installed('@ai-sdk/anthropic/dist/index.js'))) as Any
  const provider = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' })
  const run = async ({ model, prompt, stream, image, tools, signal }: Asked, more: object): Promise<Shown> => {
    const file = image && { type: 'file', data: image, mediaType: 'image/png' }
    const offered = Object.entries(tools ?? {}).map(([name, parameters]) => [
      name,
      ai.tool({ inputSchema: ai.jsonSchema(parameters) }),
    ])
    const options = {
      model: provider(model),
      messages: [{ role: 'user', content: file ? [{ type: 'text', text: prompt }, file] : prompt }],
      abortSignal: signal,
      maxRetries: retries,
      ...(tools && { tools: Object.fromEntries(offered) }),
      ...more,
    }
    let failed: unknown
    const result = stream
      ? ai.streamText({ ...options, onError: ({ error }: Any) => (failed = error) })
      : await ai.generateText(options)
    let text = stream ? '' : result.text
    if (stream) for await (const piece of result.textStream) text += piece
    if (failed) throw failed
    const [finish, calls, usage] = [await result.finishReason, await result.toolCalls, await result.usage]
    return {
      text,
      finish: FINISHES[finish] ?? finish,
      calls: calls
        .filter(({ providerExecuted }: Any) => providerExecuted !== true)
        .map(({ toolCallId: id, toolName: name, input: args }: Any) => ({ id, name, args })),
      ...(usage?.inputTokens !== undefined && { tokens: [usage.inputTokens, usage.outputTokens] }),
    }
  }
  return {
    ask: (asked) => run(asked, {}),
    withTool: (asked, add) =>
      run(asked, {
        tools: { add: ai.tool({ inputSchema: ai.jsonSchema(PARAMETERS), execute: add }) },
        stopWhen: ai.stepCountIs(5),
      }),
    async structured({ model, prompt }, schema) {
      const output = ai.Output.object({ schema: ai.jsonSchema(schema) })
      return (await ai.generateText({ model: provider(model), prompt, output, maxRetries: retries })).output
    },
  }
}

/** The stop reasons that the AI SDK has its own words for. */
const FINISHES: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
}

/** The clients by name. */
export const CLIENTS: Readonly<Record<string, (place: Place) => Promise<Client>>> = {
  'the Anthropic SDK': (place) => anthropic(place, false),
  'the Anthropic SDK, with its stream helper': (place) => anthropic(place, true),
  'the AI SDK': aiSdk,
}
