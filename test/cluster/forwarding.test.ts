/** Two replicas of one store, and requests that reach the one which does not have their session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SharedStore } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'
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

  test('counts in the figures that any of them tells', async () => {
    const read = async <T>(at: TestGateway, path: string): Promise<T> =>
      (await fetch(at.url + path)).json() as Promise<T>
    interface Counted {
      replicas: object
      minutes: { turns: number }[]
      agents: { name: string; turns: number; pool: object }[]
    }
    const figures = async (at: TestGateway) => {
      const overview = await read<Counted>(at, '/v1/overview')
      const { agents, replicas } = await read<Counted>(at, '/v1/agents')
      const turns = overview.minutes.reduce((sum, minute) => sum + minute.turns, 0)
      return { replicas: [overview.replicas, replicas], turns, echo: agents.find(({ name }) => name === 'echo') }
    }
    const before = (await figures(one)).turns
    await ask(one, 'counted')
    await ask(two, 'counted too')
    await one.engine.replication!.replicas.refresh()
    const [at, other] = [await figures(one), await figures(two)]
    expect([at.turns, other.turns]).toEqual([before + 2, before + 2])
    expect([at.echo?.turns, at.echo?.pool]).toEqual([other.echo?.turns, { running: 0, idle: 0, max: 16 }])
    const all = { of: 2, answered: 2 }
    expect([at.replicas, other.replicas]).toEqual([
      [all, all],
      [all, all],
    ])
  })

  test('has the figures of those that answer, and says which do not', async () => {
    const store = (await openStore({ kind: 'postgres', url: server.url, schema: 'forwarding' })) as SharedStore
    const now = Date.now()
    const ghost = { owner: 'ghost', epoch: await store.takeLease('ghost', now, now + 60_000) }
    const address = 'http://127.0.0.1:1'
    await store.replicas.announce(ghost, { address, version: '1', agents: {}, draining: false }, now)
    await one.engine.replication!.replicas.refresh()
    for (const path of ['/v1/overview', '/v1/agents']) {
      const { replicas } = (await (await fetch(one.url + path)).json()) as { replicas: unknown }
      expect(replicas).toEqual({ of: 3, answered: 2, missing: [address] })
    }
    await store.lapseLease(ghost, now + 70_000, 1)
    await store.lapseLease(ghost, now + 70_002, 1)
    await store.close()
    await one.engine.replication!.replicas.refresh()
    const { replicas } = (await (await fetch(`${one.url}/v1/overview`)).json()) as { replicas: unknown }
    expect(replicas).toEqual({ of: 2, answered: 2 })
  })

  test('of somebody who is no replica for what replicas tell each other is refused', async () => {
    for (const path of ['/v1/cluster/insight', `/v1/cluster/replicas/${encodeURIComponent(one.url)}`]) {
      expect((await fetch(one.url + path, { method: 'POST' })).status).toBe(401)
    }
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
