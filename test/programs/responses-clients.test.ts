import { beforeAll, describe, expect, test } from 'vitest'
import { MODELS } from '../kit/models/index.ts'
import { until } from '../kit/processes.ts'
import { describeClients } from './client-cases.ts'
import { describeWith } from './kit.ts'
import { CLIENTS, FILES, responsesOf } from './responses-clients.ts'

// biome-ignore lint/suspicious/noExplicitAny: the clients are installed beside the suite, with types of their own
type Any = any

/** Each client of OpenAI's Responses API is served by a model of every protocol. */
describeWith('clients of OpenAI’s Responses API', FILES, () => {
  describe.each(Object.entries(MODELS))('before a model of %s', (_protocol, protocol) => {
    const scene = describeClients(
      {
        clients: CLIENTS,
        ends: (client) => ({ whole: client === 'the AI SDK' ? 'stop' : 'completed' }),
        callId: /^call_/,
      },
      protocol,
    )

    describe('the OpenAI SDK', () => {
      let responses: Any
      beforeAll(async () => {
        responses = await responsesOf({ url: scene.gateway.url })
      })

      test.each(['helper', 'coder', 'model'])('goes on from a response of %s', async (agent) => {
        const first = await responses.create({ model: agent, input: 'one' })
        const second = await responses.create({ model: agent, input: 'two', previous_response_id: first.id })
        if (agent === 'model') {
          expect(scene.requests.at(-1)!.asked.messages.map(({ text }) => text)).toEqual(['one', 'Hello.', 'two'])
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
        scene.scripts = [{ pieces: [{ text: 'Half ' }, { text: 'an answer' }], only: { frames: 3, end: 'stall' } }]
        const { id, status } = await responses.create({ model: 'model', input: 'hi', background: true })
        expect(status).toBe('queued')
        await until(async () => (await responses.retrieve(id)).status === 'in_progress')
        expect((await responses.cancel(id)).status).toBe('cancelled')
        expect((await responses.cancel(id)).status).toBe('cancelled')
        expect(await responses.retrieve(id)).toMatchObject({ id, status: 'cancelled', error: { code: 'cancelled' } })
        await until(() => scene.model.open() === 0)
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
