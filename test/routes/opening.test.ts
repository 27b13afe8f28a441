import { expect, test } from 'vitest'
import { startServer } from '../../src/server.ts'
import { EXAMPLE_AGENTS, startGateway } from '../kit/gateway.ts'

test('who connects before the gateway has its lease is answered after that', async () => {
  const gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
  const { engine, config } = gateway
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const server = await startServer(
    { ...config.server, port: 0 },
    { engine, codecs: [], version: '0', command: 'turnpike', opened },
  )
  const order: string[] = []
  const answer = fetch(`${server.url}/healthz`).then(({ status }) => void order.push(`answered ${status}`))
  // Another one on the same process is answered meanwhile.
  await fetch(`${gateway.url}/healthz`)
  order.push('opened')
  open()
  await answer
  expect(order).toEqual(['opened', 'answered 200'])
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  await server.close()
  await gateway.close()
})
