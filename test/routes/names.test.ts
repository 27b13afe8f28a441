import { afterAll, beforeAll, expect, test } from 'vitest'
import { askHttp, clientNames } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway(`default: helper\nagents:\n${EXAMPLE_AGENTS}`)
})
afterAll(() => gateway.close())

test.each(clientNames)('%s: a session whose name is too long to be kept is refused', async (front) => {
  const ask = (session: string) =>
    askHttp(gateway.url, front, { text: 'hi', session, id: `${front}-${session.length}` })
  const [kept, refused] = [await ask('x'.repeat(512)), await ask('x'.repeat(513))]
  expect([kept.ok, refused.ok, refused.raw]).toEqual([true, false, expect.stringContaining('send at most 512')])
})
