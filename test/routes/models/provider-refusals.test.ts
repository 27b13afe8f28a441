import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { type Asked, MODELS, type ModelServer, type Said, startModel } from '../../kit/models/index.ts'

/**
 * What a server's failing status is for a client: one that would come again is not to be sent again, by its status too,
 * because some clients heed nothing else.
 */
const REFUSED = [400, 401, 403, 404, 409, 422].map((status) => [status, [400, 'false']] as const)
const DOWN = [408, 500, 502, 503, 529].map((status) => [status, [503, null]] as const)
const STATUSES = [...REFUSED, ...DOWN, [413, [413, 'false']] as const, [429, [429, null]] as const]

const TOOLS = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
const CALL = { call: { id: 'c1', name: 'add', args: '{}' } }

describe.each(Object.keys(MODELS))('behind %s', (back) => {
  let server: ModelServer
  let gateway: TestGateway
  let failed = 0

  beforeAll(async () => {
    server = await startModel(MODELS[back]!, ({ messages }) =>
      messages.at(-1)!.text === 'call'
        ? { pieces: [CALL], stop: 'tools' }
        : { error: { status: failed, code: 'odd_code', message: 'No.' } },
    )
    gateway = await startGateway(`agents: { model: { ${MODELS[back]!.agent(server.url)}, model: scripted } }`)
  })
  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  describe.each(Object.entries(MODELS))('in front of %s', (front, client) => {
    const send = (asked: Omit<Asked, 'model'>): Promise<Response> =>
      fetch(gateway.url + client.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...client.headers },
        body: JSON.stringify(client.write({ model: 'model', ...asked })),
      })

    test.each([false, true])('every status is one that says whether to try again (stream: %s)', async (stream) => {
      const found: unknown[] = []
      for (const [failing] of STATUSES) {
        failed = failing
        const answer = await send({ messages: [{ role: 'user', text: 'hi' }], stream })
        const body = JSON.parse(await answer.text()) as { error: { message: string } }
        expect([body.error.message, answer.headers.get('content-type')]).toEqual([
          expect.stringContaining('No.'),
          expect.stringMatching(/^application\/json/),
        ])
        found.push([failing, [answer.status, answer.headers.get('x-should-retry')]])
      }
      expect(found).toEqual(STATUSES)
    })

    test.each([false, true])(
      'after a call none is one to try again, as the model has begun (stream: %s)',
      async (stream) => {
        const user: Said = { role: 'user', text: 'call' }
        // A stream that has begun has its status, and an event that says that it failed.
        const status = front === 'responses' && stream ? 200 : 400
        for (const [failing] of STATUSES) {
          const { calls } = client.read(await (await send({ messages: [user], tools: TOOLS })).text())
          const result: Said = { role: 'tool', result: calls[0]!.id, text: 'R' }
          failed = failing
          const answer = await send({ messages: [user, { role: 'assistant', calls }, result], tools: TOOLS, stream })
          const { error } = client.read(await answer.text())
          expect([failing, answer.status, answer.headers.get('x-should-retry'), error?.message]).toEqual([
            failing,
            status,
            'false',
            expect.stringContaining('No.'),
          ])
        }
      },
    )
  })
})
