/** The official clients of OpenAI's Chat Completions, unmodified: the SDK, its stream helper, the AI SDK and LangChain. */
import { installed } from './kit.ts'

/** The files that they are loaded from. */
export const FILES = [
  'openai/index.mjs',
  'ai/dist/index.js',
  '@ai-sdk/openai-compatible/dist/index.js',
  '@langchain/openai/dist/index.js',
].map(installed)

/** What a client shows its user of one answer. */
export interface Shown {
  text: string
  /** The reason that it gives for the end, with underscores. */
  finish?: string | undefined
  /** The calls that it would run. */
  calls: { id: string; name: string; args: unknown }[]
  /** The tokens in and out that it counts. */
  tokens?: [number, number]
}
/** What it is asked. */
export interface Asked {
  model: string
  prompt: string
  stream: boolean
  /** A PNG in base64. */
  image?: string
  /** The tools that it offers, and does not run. */
  tools?: Record<string, object>
  signal?: AbortSignal
}
/** A client. */
export interface Client {
  ask(asked: Asked): Promise<Shown>
  /** Asks, and runs the tool `add` by itself when it is called. */
  withTool(asked: Asked, add: (args: { a: number; b: number }) => string): Promise<Pick<Shown, 'text'>>
  /** Asks for an answer of this schema, by what it has for that. */
  structured(asked: Asked, schema: object): Promise<unknown>
}
/** Where it finds the gateway, and how often it sends a request again. */
export interface Place {
  url: string
  retries?: number
}

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

/** The schema of the arguments of `add`. */
export const PARAMETERS = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
}

const functions = (tools: Asked['tools']) =>
  tools && Object.entries(tools).map(([name, parameters]) => ({ type: 'function', function: { name, parameters } }))
const imageUrl = (base64: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } })

async function openai({ url, retries = 0 }: Place, helper: boolean): Promise<Client> {
  const { default: OpenAI } = (await import(installed('openai/index.mjs'))) as Any
  const { completions } = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: retries }).chat
  const request = ({ model, prompt, image, tools }: Asked) => ({
    model,
    messages: [{ role: 'user', content: image ? [{ type: 'text', text: prompt }, imageUrl(image)] : prompt }],
    ...(tools && { tools: functions(tools) }),
  })
  const shown = ({ choices: [choice], usage }: Any): Shown => ({
    text: choice.message.content ?? '',
    finish: choice.finish_reason,
    calls: (choice.message.tool_calls ?? []).map(({ id, function: called }: Any) => ({
      id,
      name: called.name,
      args: JSON.parse(called.arguments),
    })),
    ...(usage && { tokens: [usage.prompt_tokens, usage.completion_tokens] }),
  })
  return {
    async ask(asked) {
      const options = { signal: asked.signal }
      if (!asked.stream) return shown(await completions.create(request(asked), options))
      const streamed = { ...request(asked), stream: true, stream_options: { include_usage: true } }
      if (helper) return shown(await completions.stream(streamed, options).finalChatCompletion())
      return iterated(await completions.create(streamed, options))
    },
    async withTool({ model, prompt, stream }, add) {
      const tool = { name: 'add', parameters: PARAMETERS, parse: JSON.parse, function: add }
      const tools = [{ type: 'function', function: tool }]
      const runner = completions.runTools({ model, messages: [{ role: 'user', content: prompt }], stream, tools })
      return { text: await runner.finalContent() }
    },
    async structured(asked, schema) {
      const format = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } }
      const { choices } = await completions.parse({ ...request(asked), response_format: format })
      return choices[0].message.parsed
    },
  }
}

/** An answer as those put it together who iterate over the chunks. */
async function iterated(chunks: AsyncIterable<Any>): Promise<Shown> {
  const shown: Shown = { text: '', calls: [] }
  const args: string[] = []
  for await (const { choices, usage } of chunks) {
    shown.text += choices[0]?.delta.content ?? ''
    shown.finish = choices[0]?.finish_reason ?? shown.finish
    for (const { index, id, function: called } of choices[0]?.delta.tool_calls ?? []) {
      shown.calls[index] ??= { id, name: called.name, args: undefined }
      args[index] = (args[index] ?? '') + called.arguments
    }
    if (usage) shown.tokens = [usage.prompt_tokens, usage.completion_tokens]
  }
  for (const [index, call] of shown.calls.entries()) call.args = JSON.parse(args[index]!)
  return shown
}

async function compatible(url: string): Promise<Any> {
  const { createOpenAICompatible } = (await import(installed('@ai-sdk/openai-compatible/dist/index.js'))) as Any
  const baseURL = `${url}/v1`
  return createOpenAICompatible({ name: 'turnpike', baseURL, includeUsage: true, supportsStructuredOutputs: true })
}

/** The AI SDK. `providerOf` makes its provider of the gateway at a URL. */
export async function aiSdk({ url, retries = 0 }: Place, providerOf = compatible): Promise<Client> {
  const ai = (await import(installed('ai/dist/index.js'))) as Any
  const provider = await providerOf(url)
  const run = async ({ model, prompt, stream, image, tools, signal }: Asked, more: object): Promise<Shown> => {
    const picture = image && { type: 'file', data: image, mediaType: 'image/png' }
    const content = picture ? [{ type: 'text', text: prompt }, picture] : prompt
    const offered = Object.entries(tools ?? {}).map(([name, parameters]) => [
      name,
      ai.tool({ inputSchema: ai.jsonSchema(parameters) }),
    ])
    const options = {
      model: provider(model),
      messages: [{ role: 'user', content }],
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
      finish: finish.replace('-', '_'),
      calls: calls.flatMap(({ toolCallId: id, toolName: name, input: args, providerExecuted }: Any) =>
        providerExecuted ? [] : { id, name, args },
      ),
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

async function langChain({ url, retries = 0 }: Place): Promise<Client> {
  const { ChatOpenAI } = (await import(installed('@langchain/openai/dist/index.js'))) as Any
  const { HumanMessage, ToolMessage } = (await import(installed('@langchain/core/dist/messages/index.js'))) as Any
  const chat = (model: string) =>
    new ChatOpenAI({ model, apiKey: 'none', maxRetries: retries, configuration: { baseURL: `${url}/v1` } })
  const bound = ({ model, tools }: Asked) => (tools ? chat(model).bindTools(functions(tools)) : chat(model))
  const said = ({ prompt, image }: Asked) =>
    new HumanMessage(image ? { content: [{ type: 'text', text: prompt }, imageUrl(image)] } : prompt)
  const shown = (message: Any): Shown => ({
    text: message.content,
    finish: message.response_metadata?.finish_reason,
    calls: message.tool_calls.map(({ id, name, args }: Any) => ({ id, name, args })),
    ...(message.usage_metadata && {
      tokens: [message.usage_metadata.input_tokens, message.usage_metadata.output_tokens],
    }),
  })
  const ask = async (model: Any, messages: Any, { stream, signal }: Asked): Promise<Any> => {
    if (!stream) return model.invoke(messages, { signal })
    let whole: Any
    for await (const chunk of await model.stream(messages, { signal })) whole = whole ? whole.concat(chunk) : chunk
    return whole
  }
  return {
    ask: async (asked) => shown(await ask(bound(asked), [said(asked)], asked)),
    async withTool(asked, add) {
      const model = bound({ ...asked, tools: { add: PARAMETERS } })
      const messages = [said(asked)]
      for (;;) {
        const answer = await ask(model, messages, asked)
        messages.push(answer)
        if (answer.tool_calls.length === 0) return shown(answer)
        for (const call of answer.tool_calls) {
          messages.push(new ToolMessage({ tool_call_id: call.id, content: add(call.args) }))
        }
      }
    },
    structured: ({ model, prompt }, schema) =>
      chat(model).withStructuredOutput(schema, { name: 'answer', method: 'jsonSchema' }).invoke(prompt),
  }
}

/** The clients by name. */
export const CLIENTS: Readonly<Record<string, (place: Place) => Promise<Client>>> = {
  'the OpenAI SDK': (place) => openai(place, false),
  'the OpenAI SDK, with its stream helper': (place) => openai(place, true),
  'the AI SDK': (place) => aiSdk(place),
  LangChain: langChain,
}
