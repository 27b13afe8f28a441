import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { MODELS, type ModelServer, type Script, startModel } from '../kit/models/index.ts'
import { until } from '../kit/processes.ts'
import { describeWith } from './kit.ts'
import { type Client, PARAMETERS } from './openai-clients.ts'
import { CLIENTS, FILES, responsesOf } from './responses-clients.ts'

/**
 * The official clients of OpenAI's Responses API, unmodified. Each is served by every example agent, and by a model of
 * every protocol behind the gateway.
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
const SCHEMA = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
  additionalProperties: false,
}
const add = (a: number, b: number) => ({ call: { id: `add-${a}`, name: 'add', args: JSON.stringify({ a, b }) } })

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

describeWith('clients of OpenAI’s Responses API', FILES, () => {
  describe.each(Object.entries(MODELS))('before a model of %s', (_protocol, protocol) => {
    let model: ModelServer
    let gateway: TestGateway
    /** What the model does with the requests of one test, in order; the last one goes on. */
    let scripts: Script[]
    let from = 0

    beforeAll(async () => {
      model = await startModel(protocol, (_asked, at) => scripts[Math.min(at - from, scripts.length - 1)]!)
      gateway = await startGateway(`
agents:${EXAMPLE_AGENTS}
  failing: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
  missing: { protocol: agentproc, command: ./nobody, args: [] }
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  model: { ${protocol.agent(model.url)}, model: scripted }
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
    const requests = () => model.requests.slice(from)
    const lastTurn = async (): Promise<{ state: string }> => {
      const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { state: string }[] }
      return turns[0]!
    }

    describe.each(Object.entries(CLIENTS))('%s', (name, open) => {
      let client: Client
      const end = name === 'the AI SDK' ? 'stop' : 'completed'
      beforeAll(async () => {
        client = await open({ url: gateway.url })
      })

      describe.each(FORMS)('%s', (_form, stream) => {
        test.each(Object.keys(ANSWERS))('is served by %s', async (agent) => {
          const { text, finish, calls } = await client.ask({ model: agent, prompt: 'hi there', stream })
          const wanted = ANSWERS[agent]!('hi there')
          expect(text).toEqual(typeof wanted === 'string' ? wanted : expect.stringMatching(wanted))
          expect({ finish, calls }).toEqual({ finish: end, calls: [] })
        })

        test('is served by a model, with its tokens', async () => {
          const shown = await client.ask({ model: 'model', prompt: 'hi', stream })
          expect(shown).toEqual({ text: 'Hello.', finish: end, calls: [], tokens: [7, 3] })
          expect(requests()[0]!.asked).toMatchObject({ model: 'scripted', messages: [{ role: 'user', text: 'hi' }] })
        })

        test('runs its tool between two answers of one turn', async () => {
          scripts = [
            { pieces: [{ text: 'Let me see.' }, add(2, 3)], stop: 'tools' },
            { pieces: [{ text: 'It is 5.' }] },
          ]
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
          expect(shown).toMatchObject({ text: '', calls: [call] })
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

        test('reports an answer that was cut, and asks once', async () => {
          scripts = [{ pieces: [{ text: 'Half ' }, { text: 'an answer' }], only: { frames: 3, end: 'cut' } }]
          const again = await open({ url: gateway.url, retries: 2 })
          await expect(again.ask({ model: 'model', prompt: 'hi', stream })).rejects.toThrow()
          expect(requests()).toHaveLength(1)
        })

        test('stops its turn when it leaves', async () => {
          scripts = [{ pieces: [{ text: 'Half ' }, { text: 'an answer' }], only: { frames: 3, end: 'stall' } }]
          const abort = new AbortController()
          const asked = client.ask({ model: 'model', prompt: 'hi', stream, signal: abort.signal })
          const ended = expect(asked).rejects.toThrow()
          await until(() => requests().length === 1)
          abort.abort()
          await ended
          await until(async () => (await lastTurn()).state === 'cancelled' && model.open() === 0)
        })
      })

      test('gets an answer of its schema', async () => {
        scripts = [{ pieces: [{ text: '{"sum":5}' }] }]
        expect(await client.structured({ model: 'model', prompt: 'Add.', stream: false }, SCHEMA)).toEqual({ sum: 5 })
        expect(requests()[0]!.asked.schema).toEqual(SCHEMA)
      })
    })

    describe('the OpenAI SDK', () => {
      let responses: Any
      beforeAll(async () => {
        responses = await responsesOf({ url: gateway.url })
      })

      test.each(['helper', 'coder', 'model'])('goes on from a response of %s', async (agent) => {
        const first = await responses.create({ model: agent, input: 'one' })
        const second = await responses.create({ model: agent, input: 'two', previous_response_id: first.id })
        if (agent === 'model') {
          expect(
            requests()
              .at(-1)!
              .asked.messages.map(({ text }) => text),
          ).toEqual(['one', 'Hello.', 'two'])
        } else expect(second.output_text).toMatch(/turn 2 of this session/i)
      })

      test('tells a response again, and streams it from any event on', async () => {
        const events: Any[] = []
        for await (const event of await responses.create({ model: 'model', input: 'hi', stream: true }))
          events.push(event)
        const { id } = events[0].response
        const again = await responses.retrieve(id)
        expect(again).toEqual({ ...events.at(-1).response, output_text: 'Hello.' })
        const rest: Any[] = []
        for await (const event of await responses.retrieve(id, { stream: true, starting_after: 3 })) rest.push(event)
        expect(rest).toEqual(events.slice(4))
      })

      test('starts a response in the background, sees it work, and cancels it', async () => {
        scripts = [{ pieces: [{ text: 'Half ' }, { text: 'an answer' }], only: { frames: 3, end: 'stall' } }]
        const { id, status } = await responses.create({ model: 'model', input: 'hi', background: true })
        expect(status).toBe('queued')
        await until(async () => (await responses.retrieve(id)).status === 'in_progress')
        expect((await responses.cancel(id)).status).toBe('cancelled')
        expect((await responses.cancel(id)).status).toBe('cancelled')
        expect(await responses.retrieve(id)).toMatchObject({ id, status: 'cancelled', error: { code: 'cancelled' } })
        await until(() => model.open() === 0)
      })

      test('finds a response of the background when it has come', async () => {
        const { id } = await responses.create({ model: 'helper', input: 'hi', background: true })
        await until(async () => (await responses.retrieve(id)).status === 'completed')
        expect((await responses.retrieve(id)).output_text).toContain('> hi')
      })

      test.each([
        [true, 'allow'],
        [false, 'deny'],
      ])('answers an approval with %s', async (approve, told) => {
        const asked = await responses.create({ model: 'careful', input: 'Delete it.' })
        expect(asked).toMatchObject({ status: 'completed', output_text: '' })
        const [request] = asked.output
        expect(request).toMatchObject({ type: 'mcp_approval_request', server_label: 'careful', name: 'rm' })
        const answer = { type: 'mcp_approval_response', approval_request_id: request.id, approve }
        const { output_text } = await responses.create({
          model: 'careful',
          input: [answer],
          previous_response_id: asked.id,
        })
        expect(output_text).toBe(`told: ${told}`)
      })

      test('does not find what is not there, or was not to be kept', async () => {
        const { id } = await responses.create({ model: 'helper', input: 'hi', store: false })
        for (const unknown of [id, 'resp_nobody']) {
          await expect(responses.retrieve(unknown)).rejects.toMatchObject({ status: 404, code: 'session_not_found' })
          const next = { model: 'helper', input: 'hi', previous_response_id: unknown }
          await expect(responses.create(next)).rejects.toMatchObject({ status: 404 })
        }
      })
    })
  })
})
