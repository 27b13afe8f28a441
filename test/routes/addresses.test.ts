import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '../../src/server.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway('agents: {}')
})
afterAll(() => gateway.close())

const serve = (host: string, port: number): Promise<unknown> =>
  startServer(
    { ...gateway.config.server, host, port },
    { engine: gateway.engine, codecs: [], version: '0', command: 'turnpike' },
  )

test('where something listens already it is said what to do', async () => {
  const port = Number(new URL(gateway.url).port)
  await expect(serve('127.0.0.1', port)).rejects.toThrow(
    `cannot listen on 127.0.0.1 port ${port}: another program listens there; ` +
      `stop it, or choose another port: turnpike serve --port ${port + 1}`,
  )
})

test('of an address of another machine as well, and of a name that nobody has what the system says', async () => {
  await expect(serve('192.0.2.1', 0)).rejects.toThrow(
    'cannot listen on 192.0.2.1 port 0: this machine does not have that address; ' +
      'correct server.host, then: turnpike check',
  )
  await expect(serve('nobody.invalid', 0)).rejects.toThrow(/^cannot listen on nobody\.invalid port 0: getaddrinfo /)
})
