/** Two replicas of one store, and requests that reach the one which does not have their session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'

/** Says which process it is, then what it is told. */
const YAML = `
default: echo
agents:
  echo: { protocol: agentproc, command: /bin/sh, args: [-c, 'echo "$PPID: $AGENT_MESSAGE"'] }
  slow: { protocol: agentproc, command: /bin/sh, args: [-c, 'sleep 60'] }
`

describe.skipIf(POSTGRES_BIN === undefined)('a request for another replica', { timeout: 60_000 }, () => {
  let server: PostgresServer
  let one: TestGateway
  let two: TestGateway

  beforeAll(async () => {
    server = await startPostgres()
    const replicaOn = { url: server.url, schema: 'forwarding' }
    one = await startGateway(YAML, { replicaOn })
    two = await startGateway(YAML, { replicaOn })
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await server?.close()
  })

  const ask = async (
    at: TestGateway,
    session: string,
    more: Record<string, string> = {},
    path = '',
  ): Promise<unknown> => {
    const response = await fetch(`${at.url}/v1/turns${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify({ input: 'hi', session: { id: session } }),
    })
    return response.json()
  }
  /** Which of them runs turns. */
  const running = (): number[] => [one, two].map(({ engine }) => engine.turns.length)

  test('is answered by that one', async () => {
    expect(await ask(one, 's')).toMatchObject({ outcome: 'completed' })
    expect(await ask(two, 's')).toMatchObject({ outcome: 'completed' })
    expect(two.engine.replication!.replicas.others.map(({ address }) => address)).toEqual([one.url])
    expect(running()).toEqual([0, 0])
  })

  test('ends there when its client leaves', async () => {
    await ask(one, 'leaves')
    const leaving = new AbortController()
    const asked = fetch(`${two.url}/v1/turns/slow`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'hi', session: { id: 'slow' } }),
    }).catch(() => undefined)
    while (two.engine.turns.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    const also = fetch(`${one.url}/v1/turns/slow`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'hi', session: { id: 'slow' } }),
    }).catch(() => undefined)
    while (two.engine.turns.length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(running()).toEqual([0, 2])
    leaving.abort()
    await asked
    await also
    while (two.engine.turns.length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  })
})
