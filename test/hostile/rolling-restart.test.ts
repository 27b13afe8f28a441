/** Three replicas that are restarted one after the other, under load, behind a load balancer that knows nothing of them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { turnsIn } from './kit.ts'
import { type Served, serve } from './served.ts'

const SESSIONS = 6
/** How often a client asks for the same request again, one replica after the other. */
const TRIES = 200

describe.skipIf(POSTGRES_BIN === undefined)('a rolling restart', { timeout: 120_000 }, () => {
  let server: PostgresServer
  const folders: string[] = []
  const replicas: Served[] = []

  beforeAll(async () => {
    server = await startPostgres()
    for (let at = 0; at < 3; at += 1) {
      folders.push(mkdtempSync(join(tmpdir(), 'turnpike-rolling-')))
      replicas.push(await start(at))
    }
  })
  afterAll(async () => {
    await Promise.all(replicas.map((one) => one.stop()))
    await server.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  const at = () => ({ kind: 'postgres', url: server.url, schema: 'rolling' }) as const
  const start = (index: number, port?: number): Promise<Served> =>
    serve(
      `server: { port: 0, socket: false }
default: slow
agents:
  slow: { protocol: agentproc, command: /bin/sh, args: [-c, 'sleep 0.2; echo "$AGENT_MESSAGE"'], pool: { max: 20 } }
store: ${JSON.stringify(at())}
log: { level: error, pretty: false }
`,
      { folder: folders[index]!, ...(port !== undefined && { port }) },
    )

  let next = 0
  /** Asks one replica after the other, as a load balancer and a client that tries again do. */
  async function ask(session: string, text: string): Promise<string> {
    for (let left = TRIES; left > 0; left -= 1) {
      next += 1
      const { url } = replicas[next % 3]!
      try {
        const response = await fetch(`${url}/v1/turns`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': text },
          body: JSON.stringify({ input: text, session: { id: session } }),
        })
        if (response.ok) return ((await response.json()) as { text: string }).text
        if (response.status !== 503) return `${response.status} ${await response.text()}`
      } catch {
        // Nobody listens there now.
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return 'no answer'
  }

  test('loses nothing', async () => {
    let over = false
    const told: [sent: string, got: string][] = []
    const clients = Array.from({ length: SESSIONS }, async (_, client) => {
      for (let turn = 0; !over; turn += 1) {
        const text = `s${client} t${turn}`
        told.push([text, await ask(`s${client}`, text)])
      }
    })
    for (const [index, old] of replicas.entries()) {
      const gone = new Promise((resolve) => old.process.once('exit', resolve))
      old.process.kill('SIGTERM')
      await gone
      replicas[index] = await start(index, old.port)
    }
    over = true
    await Promise.all(clients)
    expect(told.filter(([sent, got]) => sent !== got)).toEqual([])
    const turns = await turnsIn(at())
    expect(turns.filter(({ outcome, ends }) => outcome !== 'completed' || ends !== 1)).toEqual([])
    expect(turns).toHaveLength(told.length)
  })

  test('an operator can have a replica take no sessions, and the others have them', async () => {
    const [first, other] = replicas as [Served, Served]
    const answer = await fetch(`${first.url}/v1/admin/drain`, { method: 'POST' })
    expect(await answer.json()).toEqual({ status: 'draining' })
    expect((await fetch(`${first.url}/readyz`)).status).toBe(503)
    const refused = await fetch(`${first.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'hi', session: { id: 'new' } }),
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200)
  })
})
