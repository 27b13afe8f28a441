import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { MODELS, type ModelServer, type Script, startModel } from '../kit/models/index.ts'
import { until } from '../kit/processes.ts'
import { describeWith } from './kit.ts'
import { CLIENTS, type Client, FILES, PARAMETERS } from './openai-clients.ts'

/**
 * The official clients of OpenAI's Chat Completions, unmodified. Each is served by every example agent, and by a model
 * behind the gateway.
 */
const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const
const KIT = `${process.cwd()}/test/kit/agents`

const ANSWERS: Readonly<Record<string, (text: string) => string | RegExp>> = {
  helper: (text) => `Turn 1 of this session. You said:\n> ${text}`,
  coder: (text) => `You said: ${text} (turn 1 of this session)`,
  writer: (text) => `You said: ${text} (turn 1 of this session)`,
  planner: (text) => new RegExp(`^You said: ${text} \\(session .+\\)$`),
}
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const add = (a: number, b: number) => ({ call: { id: `add-${a}`, name: 'add', args: JSON.stringify({ a, b }) } })

describeWith('clients of OpenAI’s Chat Completions', FILES, () => {
  let model: ModelServer
  let gateway: TestGateway
  /** What the model does with the requests of one test, in order; the last one goes on. */
  let scripts: Script[]
  let from = 0

  beforeAll(async () => {
    model = await startModel(MODELS['chat']!, (_asked, at) => scripts[Math.min(at - from, scripts.length - 1)]!)
    gateway = await startGateway(`
routes:
  - { when: { agent: allowed }, agent: allowed, approvals: allow }
agents:${EXAMPLE_AGENTS}
  failing: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
  missing: { protocol: agentproc, command: ./nobody, args: [] }
  denied: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  allowed: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  model: { ${MODELS['chat']!.agent(model.url)}, model: scripted }
`)
  })
  afterAll(async () => {
    await gateway?.close()
    await model?.close()
  })
  beforeEach(() => {
    from = model.requests.length
    scripts = [{ pieces: [{ text: 'Hello.' }], usage: { input: 7, output: 3 } }]
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
        expect({ finish, calls }).toEqual({ finish: 'stop', calls: [] })
      })

      test('is served by a model, with its tokens', async () => {
        const shown = await client.ask({ model: 'model', prompt: 'hi', stream })
        expect(shown).toEqual({ text: 'Hello.', finish: 'stop', calls: [], tokens: [7, 3] })
        expect(requests().map(({ asked }) => asked)).toEqual([
          { model: 'scripted', messages: [{ role: 'user', text: 'hi' }] },
        ])
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
        const call = { id: expect.stringMatching(/^call_/), name: 'add', args: { a: 2, b: 3 } }
        expect(shown).toMatchObject({ text: '', finish: 'tool_calls', calls: [call] })
      })

      test.each([
        ['denied', 'deny'],
        ['allowed', 'allow'],
      ])('leaves the questions of an agent to the policy of its route: %s', async (agent, told) => {
        const shown = await client.ask({ model: agent, prompt: 'Delete it.', stream })
        expect(shown).toMatchObject({ text: `told: ${told}`, finish: 'stop' })
      })

      test('sends a picture', async () => {
        await client.ask({ model: 'model', prompt: 'What is it?', image: PNG, stream })
        expect(requests()[0]!.asked.messages).toEqual([{ role: 'user', text: 'What is it?', image: PNG }])
      })

      test.each(['failing', 'missing'])('reports an error of the agent %s, never an answer', async (agent) => {
        await expect(client.ask({ model: agent, prompt: 'hi', stream })).rejects.toThrow()
      })

      test('reports a model that there is not, with those that there are', async () => {
        await expect(client.ask({ model: 'gpt-4o', prompt: 'hi', stream })).rejects.toThrow(/helper.*model/)
      })

      test('sends a request again that failed before the agent had begun', async () => {
        const again = await open({ url: gateway.url, retries: 2 })
        const error = { status: 503, code: 'busy', message: 'Busy.', headers: { 'retry-after': '0' } }
        scripts = [{ error }, { error }, { pieces: [{ text: 'At last.' }] }]
        expect(await again.ask({ model: 'model', prompt: 'hi', stream })).toMatchObject({ text: 'At last.' })
        expect(requests()).toHaveLength(3)
      })

      test('does not have an agent work again whose answer has failed', async () => {
        const again = await open({ url: gateway.url, retries: 2 })
        const error = { status: 500, code: 'broken', message: 'It broke.' }
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
        // Whoever iterates over chunks sees a stream that he has ended himself as one without a reason for its end.
        expect(
          await asked.then(
            ({ finish }) => finish,
            () => undefined,
          ),
        ).toBeUndefined()
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
      expect(requests()[0]!.asked.schema).toMatchObject(schema)
    })
  })
})
