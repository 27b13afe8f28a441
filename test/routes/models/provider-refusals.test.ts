import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS, type ModelServer, startModel } from '../../kit/models/index.ts'

/**
 * What a server's failing status is for a client: one that would come again is not to be sent again, by its status too,
 * because some clients heed nothing else.
 */
const REFUSED = [400, 401, 403, 404, 409, 422].map((status) => [status, [400, 'false']] as const)
const DOWN = [408, 500, 502, 503, 529].map((status) => [status, [503, null]] as const)
const STATUSES = [...REFUSED, ...DOWN, [413, [413, 'false']] as const, [429, [429, null]] as const]

describe.each(Object.keys(MODELS))('behind %s', (back) => {
  let server: ModelServer
  let gateway: TestGateway
  let status = 0

  beforeAll(async () => {
    server = await startModel(MODELS[back]!, () => ({ error: { status, code: 'odd_code', message: 'No.' } }))
    gateway = await startGateway(`agents: { model: { ${MODELS[back]!.agent(server.url)}, model: scripted } }`)
  })
  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  describe.each(Object.entries(MODELS))('in front of %s', (_front, client) => {
    test.each([false, true])('every status is one that says whether to try again (stream: %s)', async (stream) => {
      const found: unknown[] = []
      for (const [failing] of STATUSES) {
        status = failing
        const answer = await fetch(gateway.url + client.path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...client.headers },
          body: JSON.stringify(client.write({ model: 'model', messages: [{ role: 'user', text: 'hi' }], stream })),
        })
        const body = JSON.parse(await answer.text()) as { error: { message: string } }
        expect([body.error.message, answer.headers.get('content-type')]).toEqual([
          expect.stringContaining('No.'),
          expect.stringMatching(/^application\/json/),
        ])
        found.push([failing, [answer.status, answer.headers.get('x-should-retry')]])
      }
      expect(found).toEqual(STATUSES)
    })
  })
})
