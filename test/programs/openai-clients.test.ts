import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { describeWith, installed, PROVIDER } from './kit.ts'

/**
 * The official clients of OpenAI's Chat Completions, unmodified: the SDK, the AI SDK and LangChain. Each is served by
 * every example agent, and by a model behind the gateway.
 */
const FILES = [
  'openai/index.mjs',
  'ai/dist/index.js',
  '@ai-sdk/openai-compatible/dist/index.js',
  '@langchain/openai/dist/index.js',
]

/** What a client shows its user of one answer. */
interface Shown {
  text: string
  /** The reason that it gives for the end. */
  finish?: string | undefined
}
interface Asked {
  model: string
  prompt: string
  stream: boolean
  signal?: AbortSignal
}
/** A client: asks once; runs the tool `add` by itself when it is called. */
interface Client {
  ask(asked: Asked): Promise<Shown>
  withTool(asked: Asked, add: (args: { a: number; b: number }) => string): Promise<Shown>
}

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

const PARAMETERS = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}

async function openaiSdk(url: string): Promise<Client> {
  const { default: OpenAI } = (await import(installed('openai/index.mjs'))) as Any
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 2 })
  const messages = (prompt: string) => [{ role: 'user', content: prompt }]
  return {
    async ask({ model, prompt, stream, signal }) {
      if (!stream) {
        const { choices } = await client.chat.completions.create({ model, messages: messages(prompt) }, { signal })
        return { text: choices[0].message.content, finish: choices[0].finish_reason }
      }
      const shown: Shown = { text: '' }
      const options = { model, messages: messages(prompt), stream: true }
      for await (const { choices } of await client.chat.completions.create(options, { signal })) {
        shown.text += choices[0]?.delta.content ?? ''
        shown.finish = choices[0]?.finish_reason ?? shown.finish
      }
      return shown
    },
    async withTool({ model, prompt, stream }, add) {
      const runner = client.chat.completions.runTools({
        model,
        messages: messages(prompt),
        stream,
        tools: [
          { type: 'function', function: { name: 'add', parameters: PARAMETERS, parse: JSON.parse, function: add } },
        ],
      })
      return { text: await runner.finalContent() }
    },
  }
}

async function aiSdk(url: string): Promise<Client> {
  const { generateText, streamText, jsonSchema, stepCountIs, tool } = (await import(
    installed('ai/dist/index.js')
  )) as Any
  const { createOpenAICompatible } = (await import(installed('@ai-sdk/openai-compatible/dist/index.js'))) as Any
  const provider = createOpenAICompatible({ name: 'turnpike', baseURL: `${url}/v1` })
  const run = async ({ model, prompt, stream, signal }: Asked, more: object): Promise<Shown> => {
    const options = { model: provider(model), prompt, abortSignal: signal, maxRetries: 0, ...more }
    if (!stream) {
      const { text, finishReason } = await generateText(options)
      return { text, finish: finishReason }
    }
    let failed: unknown
    const result = streamText({ ...options, onError: ({ error }: Any) => (failed = error) })
    let text = ''
    for await (const piece of result.textStream) text += piece
    if (failed) throw failed
    return { text, finish: await result.finishReason }
  }
  return {
    ask: (asked) => run(asked, {}),
    withTool: (asked, add) =>
      run(asked, {
        tools: { add: tool({ inputSchema: jsonSchema(PARAMETERS), execute: add }) },
        stopWhen: stepCountIs(5),
      }),
  }
}

async function langChain(url: string): Promise<Client> {
  const { ChatOpenAI } = (await import(installed('@langchain/openai/dist/index.js'))) as Any
  const { HumanMessage, ToolMessage } = (await import(installed('@langchain/core/dist/messages/index.js'))) as Any
  const chat = (model: string) =>
    new ChatOpenAI({ model, apiKey: 'none', maxRetries: 0, configuration: { baseURL: `${url}/v1` } })
  const shown = (message: Any): Shown => ({ text: message.content, finish: message.response_metadata?.finish_reason })
  const ask = async (model: Any, messages: Any, { stream, signal }: Asked): Promise<Any> => {
    if (!stream) return model.invoke(messages, { signal })
    let whole: Any
    for await (const chunk of await model.stream(messages, { signal })) whole = whole ? whole.concat(chunk) : chunk
    return whole
  }
  return {
    ask: async (asked) => shown(await ask(chat(asked.model), asked.prompt, asked)),
    async withTool(asked, add) {
      const tools = [{ type: 'function', function: { name: 'add', parameters: PARAMETERS } }]
      const model = chat(asked.model).bindTools(tools)
      const messages = [new HumanMessage(asked.prompt)]
      for (;;) {
        const answer = await ask(model, messages, asked)
        messages.push(answer)
        if (answer.tool_calls.length === 0) return shown(answer)
        for (const call of answer.tool_calls) {
          messages.push(new ToolMessage({ tool_call_id: call.id, content: add(call.args) }))
        }
      }
    },
  }
}

const CLIENTS = { 'the OpenAI SDK': openaiSdk, 'the AI SDK': aiSdk, LangChain: langChain }
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

const ANSWERS: Readonly<Record<string, (text: string) => string | RegExp>> = {
  helper: (text) => `Turn 1 of this session. You said:\n> ${text}`,
  coder: (text) => `You said: ${text} (turn 1 of this session)`,
  writer: (text) => `You said: ${text} (turn 1 of this session)`,
  planner: (text) => new RegExp(`^You said: ${text} \\(session .+\\)$`),
  model: () => 'Hello from the fake model.',
}

const scripted = (...steps: object[]): string => `Go. [[fake ${JSON.stringify({ steps })}]]`

describeWith('clients of OpenAI’s Chat Completions', FILES.map(installed), () => {
  let provider: { baseUrl: string; requests: unknown[]; close(): Promise<void> }
  let gateway: TestGateway

  beforeAll(async () => {
    const { startFakeOpenAI } = (await import(PROVIDER)) as Any
    provider = await startFakeOpenAI({})
    gateway = await startGateway(`agents:${EXAMPLE_AGENTS}
  failing: { protocol: agentproc, command: ${process.cwd()}/test/kit/agents/exits.sh, args: [] }
  missing: { protocol: agentproc, command: ./nobody, args: [] }
  model: { protocol: openai, url: "${provider.baseUrl}", model: fake-model }
`)
  })
  afterAll(async () => {
    await gateway?.close()
    await provider?.close()
  })

  describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
    let client: Client
    beforeAll(async () => {
      client = await open(gateway.url)
    })

    describe.each(FORMS)('%s', (_form, stream) => {
      test.each(Object.keys(ANSWERS))('is served by %s', async (model) => {
        const shown = await client.ask({ model, prompt: 'hi there', stream })
        const wanted = ANSWERS[model]!('hi there')
        if (typeof wanted === 'string') expect(shown).toEqual({ text: wanted, finish: 'stop' })
        else expect(shown).toEqual({ text: expect.stringMatching(wanted), finish: 'stop' })
      })

      test('runs its tool between two answers of one turn', async () => {
        const call = { name: 'add', args: { a: 2, b: 3 } }
        const prompt = scripted({ text: 'Let me see.', tool_calls: [call] }, { text: 'It is 5.' })
        const added: object[] = []
        const shown = await client.withTool({ model: 'model', prompt, stream }, (args) => {
          added.push(args)
          return String(args.a + args.b)
        })
        expect(added).toEqual([{ a: 2, b: 3 }])
        expect(shown.text).toContain('It is 5.')
      })

      test('runs two tools that are called at once', async () => {
        const calls = [
          { name: 'add', args: { a: 1, b: 1 } },
          { name: 'add', args: { a: 2, b: 2 } },
        ]
        const added: number[] = []
        const prompt = scripted({ tool_calls: calls }, { text: 'Both are added.' })
        const shown = await client.withTool({ model: 'model', prompt, stream }, ({ a, b }) => {
          added.push(a + b)
          return String(a + b)
        })
        expect(added.sort()).toEqual([2, 4])
        expect(shown.text).toContain('Both are added.')
      })

      test.each(['failing', 'missing'])('reports an error of the agent %s, never an answer', async (model) => {
        await expect(client.ask({ model, prompt: 'hi', stream })).rejects.toThrow()
      })

      test('reports an error of the model in the middle of its answer', async () => {
        const prompt = scripted({ text: ['half ', 'an ', 'answer'], drop: 2 })
        await expect(client.ask({ model: 'model', prompt, stream })).rejects.toThrow()
      })

      test('cancels its turn when it leaves', async () => {
        const abort = new AbortController()
        const asked = client.ask({ model: 'model', prompt: scripted({ hang: true }), stream, signal: abort.signal })
        const running = async () => {
          const answer = await fetch(`${gateway.url}/v1/turns`)
          const { turns } = (await answer.json()) as { turns: { state: string; agent: string }[] }
          return turns[0]!
        }
        while ((await running()).state !== 'running') await new Promise(setImmediate)
        abort.abort()
        await expect(asked).rejects.toThrow()
        while ((await running()).state === 'running') await new Promise(setImmediate)
        expect(await running()).toMatchObject({ state: 'cancelled', agent: 'model' })
      })
    })
  })
})
