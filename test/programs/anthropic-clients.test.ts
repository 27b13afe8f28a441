import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { MODELS, type ModelServer, type Script, startModel } from '../kit/models/index.ts'
import { until } from '../kit/processes.ts'
import { anthropicSdk, CLIENTS, FILES } from './anthropic-clients.ts'
import { describeWith } from './kit.ts'
import { type Client, PARAMETERS } from './openai-clients.ts'

/**
 * The official clients of Anthropic's Messages, unmodified. Each is served by every example agent, and by a model behind
 * the gateway.
 */
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const
const KIT = `${process.cwd()}/test/kit/agents`
const MESSAGES = MODELS['messages']!

const ANSWERS: Readonly<Record<string, (text: string) => string | RegExp>> = {
  helper: (text) => `Turn 1 of this session. You said:\n> ${text}`,
  coder: (text) => `You said: ${text} (turn 1 of this session)`,
  writer: (text) => `You said: ${text} (turn 1 of this session)`,
  planner: (text) => new RegExp(`^You said: ${text} \\(session .+\\)$`),
}
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const add = (a: number, b: number) => ({ call: { id: `add-${a}`, name: 'add', args: JSON.stringify({ a, b }) } })

describeWith('clients of Anthropic’s Messages', FILES, () => {
  let model: ModelServer
  let gateway: TestGateway
  /** What the model does with the requests of one test, in order; the last one goes on. */
  let scripts: Script[]
  let from = 0

  beforeAll(async () => {
    model = await startModel(MESSAGES, (_asked, at) => scripts[Math.min(at - from, scripts.length - 1)]!)
    gateway = await startGateway(`
agents:${EXAMPLE_AGENTS}
  tools: { protocol: native, command: ${process.execPath}, args: [${KIT}/native.mjs] }
  failing: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
  missing: { protocol: agentproc, command: ./nobody, args: [] }
  model: { ${MESSAGES.agent(model.url)}, model: scripted }
`)
  })
  afterAll(async () => {
    await gateway?.close()
    await model?.close()
  })
  beforeEach(() => {
    from = model.requests.length
    scripts = [{ pieces: [{ text: 'Hello.' }], usage: { input: 7, output: 3, cached: 4 } }]
  })
  /** The requests that the model has got in this test. */
  const requests = () => model.requests.slice(from)

  describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
    let client: Client
    beforeAll(async () => {
      client = await open({ url: gateway.url })
    })

    describe.each(FORMS)('%s', (_form, stream) => {
      test.each(Object.keys(ANSWERS))('is served by %s', async (agent) => {
        const { text, finish, calls } = await client.ask({ model: agent, prompt: 'hi there', stream })
        const wanted = ANSWERS[agent]!('hi there')
        expect(text).toEqual(typeof wanted === 'string' ? wanted : expect.stringMatching(wanted))
        expect({ finish, calls }).toEqual({ finish: 'end_turn', calls: [] })
      })

      test('is served by a model, with its tokens', async () => {
        const shown = await client.ask({ model: 'model', prompt: 'hi', stream })
        expect(shown).toEqual({ text: 'Hello.', finish: 'end_turn', calls: [], tokens: [7, 3] })
        expect(requests().map(({ asked }) => asked)).toMatchObject([
          { model: 'scripted', messages: [{ role: 'user', text: 'hi' }] },
        ])
      })

      test('does not run the tools that an agent runs itself', async () => {
        const shown = await client.ask({ model: 'tools', prompt: 'hi', stream, tools: { count: PARAMETERS } })
        expect(shown).toMatchObject({ text: expect.stringContaining('You said: hi'), finish: 'end_turn', calls: [] })
      })

      test('runs its tool between two answers of one turn', async () => {
        scripts = [{ pieces: [{ text: 'Let me see.' }, add(2, 3)], stop: 'tools' }, { pieces: [{ text: 'It is 5.' }] }]
        const added: object[] = []
        const shown = await client.withTool({ model: 'model', prompt: 'Add.', stream }, (args) => {
          added.push(args)
          return String(args.a + args.b)
        })
        expect(added).toEqual([{ a: 2, b: 3 }])
        expect(shown.text.replace('Let me see.', '')).toBe('It is 5.')
        expect(requests().at(-1)!.asked.messages).toEqual([
          { role: 'user', text: 'Add.' },
          { role: 'assistant', text: 'Let me see.', calls: [{ id: 'add-2', name: 'add', args: '{"a":2,"b":3}' }] },
          { role: 'tool', text: '5', result: 'add-2' },
        ])
      })

      test('runs two tools that are called at once', async () => {
        scripts = [{ pieces: [add(1, 1), add(2, 2)], stop: 'tools' }, { pieces: [{ text: 'Both are added.' }] }]
        const added: number[] = []
        const shown = await client.withTool({ model: 'model', prompt: 'Add.', stream }, ({ a, b }) => {
          added.push(a + b)
          return String(a + b)
        })
        expect(added.sort()).toEqual([2, 4])
        expect(shown.text).toBe('Both are added.')
        expect(requests()).toHaveLength(2)
      })

      test('sees a call as one of its own tool, in a turn that waits', async () => {
        scripts = [{ pieces: [add(2, 3)], stop: 'tools' }]
        const shown = await client.ask({ model: 'model', prompt: 'Add.', stream, tools: { add: PARAMETERS } })
        const call = { id: expect.stringMatching(/^toolu_[\w-]+$/), name: 'add', args: { a: 2, b: 3 } }
        expect(shown).toMatchObject({ text: '', finish: 'tool_use', calls: [call] })
      })

      test('sends a picture', async () => {
        await client.ask({ model: 'model', prompt: 'What is it?', image: PNG, stream })
        expect(requests()[0]!.asked.messages).toEqual([{ role: 'user', text: 'What is it?', image: PNG }])
      })

      test.each(['failing', 'missing'])('reports an error of the agent %s, never an answer', async (agent) => {
        await expect(client.ask({ model: agent, prompt: 'hi', stream })).rejects.toThrow()
      })

      test('reports a model that there is not, with those that there are', async () => {
        await expect(client.ask({ model: 'claude', prompt: 'hi', stream })).rejects.toThrow(/helper.*model/)
      })

      test('sends a request again that failed before the agent had begun', async () => {
        const again = await open({ url: gateway.url, retries: 2 })
        const error = { status: 529, code: 'overloaded_error', message: 'Busy.', headers: { 'retry-after': '0' } }
        scripts = [{ error }, { error }, { pieces: [{ text: 'At last.' }] }]
        expect(await again.ask({ model: 'model', prompt: 'hi', stream })).toMatchObject({ text: 'At last.' })
        expect(requests()).toHaveLength(3)
      })

      test('does not have an agent work again whose answer has failed', async () => {
        const again = await open({ url: gateway.url, retries: 2 })
        const error = { status: 500, code: 'api_error', message: 'It broke.' }
        scripts = [{ pieces: [{ text: 'Half of it' }], error }]
        await expect(again.ask({ model: 'model', prompt: 'hi', stream })).rejects.toThrow()
        expect(requests()).toHaveLength(1)
      })

      test('cancels its turn when it leaves', async () => {
        scripts = [{ only: { frames: 1, end: 'stall' } }]
        const abort = new AbortController()
        const asked = client.ask({ model: 'model', prompt: 'hi', stream, signal: abort.signal })
        const state = async () => {
          const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { state: string }[] }
          return turns[0]!.state
        }
        await until(() => requests().length === 1)
        abort.abort()
        // Whoever iterates over events sees a stream that he has ended himself as one without a reason for its end.
        const finish = await asked.then(
          (shown) => shown.finish,
          () => undefined,
        )
        expect(finish).toBeUndefined()
        await until(async () => (await state()) === 'cancelled' && model.open() === 0)
      })
    })

    test('gets an answer of its schema', async () => {
      const schema = {
        type: 'object',
        properties: { sum: { type: 'number' } },
        required: ['sum'],
        additionalProperties: false,
      }
      scripts = [{ pieces: [{ text: '{"sum":5}' }] }]
      expect(await client.structured({ model: 'model', prompt: 'Add.', stream: false }, schema)).toEqual({ sum: 5 })
      // Of a model that it does not know, the AI SDK asks for the answer as a call.
      const { schema: sent, tools } = requests()[0]!.asked
      expect(sent ?? tools?.[0]?.parameters).toMatchObject(schema)
    })
  })

  test('the SDK gives thinking back as it got it, and the model gets it as it was', async () => {
    const sdk = await anthropicSdk({ url: gateway.url })
    scripts = [
      { pieces: [{ reasoning: 'Hm, 2 and 3.', seal: 'c2VhbA+/==' }, add(2, 3)], stop: 'tools' },
      { pieces: [{ text: '5' }] },
    ]
    const body = {
      model: 'model',
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [{ name: 'add', input_schema: PARAMETERS }],
      messages: [{ role: 'user', content: 'Add.' }] as object[],
    }
    const first = await sdk.messages.stream(body).finalMessage()
    expect(first.content[0]).toEqual({ type: 'thinking', thinking: 'Hm, 2 and 3.', signature: 'c2VhbA+/==' })
    const result = { type: 'tool_result', tool_use_id: first.content[1].id, content: '5' }
    body.messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: [result] })
    const second = await sdk.messages.create(body)
    expect(second.content).toEqual([{ type: 'text', text: '5' }])
    const sent = { type: 'thinking', thinking: 'Hm, 2 and 3.', signature: 'c2VhbA+/==' }
    expect(requests()[1]!.body).toMatchObject({
      thinking: body.thinking,
      messages: [{}, { role: 'assistant', content: [sent, { type: 'tool_use', id: 'add-2' }] }, {}],
    })
    // In a turn of its own, with the whole conversation, it is the same.
    body.messages.push({ role: 'assistant', content: second.content }, { role: 'user', content: 'And?' })
    await sdk.messages.create(body)
    expect(requests()[2]!.body).toMatchObject({ messages: [{}, { content: [sent, {}] }, {}, {}, {}] })
  })

  test('the SDK counts tokens, and lists the agents as models', async () => {
    const sdk = await anthropicSdk({ url: `${gateway.url}/anthropic` })
    const counted = await sdk.messages.countTokens({
      model: 'helper',
      messages: [{ role: 'user', content: 'hi there' }],
    })
    expect(counted).toEqual({ input_tokens: 10 })
    const listed = []
    for await (const { type, id } of sdk.models.list()) listed.push([type, id])
    expect(listed).toContainEqual(['model', 'helper'])
    expect(await sdk.models.retrieve('coder')).toMatchObject({ id: 'coder', display_name: 'coder' })
    const gone = sdk.models.retrieve('gone')
    await expect(gone).rejects.toMatchObject({ status: 404, error: { error: { type: 'not_found_error' } } })
  })

  test('the SDK knows the type of an error, before and in a stream, and the id of its request', async () => {
    const sdk = await anthropicSdk({ url: gateway.url })
    const body = { model: 'model', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
    scripts = [{ error: { status: 429, code: 'rate_limit_error', message: 'Slow.' } }]
    const early = await sdk.messages.create(body).catch((error: unknown) => error)
    expect(early).toMatchObject({ status: 429, type: 'rate_limit_error', requestID: expect.stringMatching(/^req_/) })
    scripts = [{ pieces: [{ text: 'Half' }], error: { status: 529, code: 'overloaded_error', message: 'Busy.' } }]
    const late = await sdk.messages
      .stream(body)
      .finalMessage()
      .catch((error: unknown) => error)
    expect(late).toMatchObject({ type: 'overloaded_error' })
  })
})
