/**
 * The topology of compose.yaml without its containers: three gateways, PostgreSQL, haproxy and a collector, from the files
 * of deploy/compose, with addresses of this machine in them.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serve } from '../hostile/served.ts'
import { ROOT } from '../kit/gateway.ts'
import { freePort, POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { until } from '../kit/processes.ts'

const read = (name: string): string => readFileSync(join(ROOT, 'deploy/compose', name), 'utf8')
const HAPROXY = spawnSync('haproxy', ['-v']).status === 0
const GATEWAYS = 3
const CLIENTS = 6
const ENV = {
  TURNPIKE_DB_PASSWORD: 'of-the-database',
  TURNPIKE_CLUSTER_SECRET: 'a-secret-of-the-cluster',
  TURNPIKE_KEY: 'key-of-a-client-0123456789',
  TURNPIKE_ADMIN_KEY: 'key-of-the-operator-0123456789',
}
const client = { authorization: `Bearer ${ENV.TURNPIKE_KEY}`, 'content-type': 'application/json' }

interface Told {
  id?: string
  turn?: string
  outcome?: string
  text?: string
}

describe.runIf(HAPROXY && POSTGRES_BIN !== undefined)(
  'compose [needs haproxy and PostgreSQL]',
  { timeout: 90_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-compose-'))
    const gateways: Served[] = []
    const folders: string[] = []
    const exported: string[] = []
    let database: PostgresServer
    let collector: Server
    let balancer: ChildProcess
    let url: string

    beforeAll(async () => {
      database = await startPostgres({ password: ENV.TURNPIKE_DB_PASSWORD })
      const admin = new pg.Client(database.url.replace('@', `:${ENV.TURNPIKE_DB_PASSWORD}@`))
      await admin.connect()
      await admin.query('CREATE DATABASE turnpike')
      await admin.end()
      collector = createServer((request, response) => {
        exported.push(`${request.method} ${request.url}`)
        request.resume().on('end', () => response.writeHead(200).end())
      }).listen(0, '127.0.0.1')
      await once(collector, 'listening')
      for (let at = 0; at < GATEWAYS; at += 1) {
        folders.push(mkdtempSync(join(folder, 'gateway-')))
        gateways.push(await start(at, await freePort()))
      }
      const port = await freePort()
      url = `http://127.0.0.1:${port}`
      writeFileSync(join(folder, 'haproxy.cfg'), balanced(port))
      balancer = spawn('haproxy', ['-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
      await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200)
    })
    afterAll(async () => {
      balancer.kill()
      await Promise.all(gateways.map((gateway) => gateway.stop()))
      collector.close()
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    })

    /** Starts a gateway on turnpike.yaml, where the names of containers are addresses of this machine. */
    function start(at: number, port: number): Promise<Served> {
      const yaml = read('turnpike.yaml')
        .replace('host: 0.0.0.0', 'host: 127.0.0.1')
        .replace('postgres:5432', new URL(database.url).host)
        .replace('collector:4318', `127.0.0.1:${(collector.address() as AddressInfo).port}`)
        .replace(':8484', `:${port}`)
        .replace('/opt/turnpike', ROOT)
      return serve(yaml, { folder: folders[at]!, port, env: { ...ENV, HOSTNAME: '127.0.0.1' } })
    }

    /** haproxy.cfg, where Docker's names are addresses of this machine. */
    function balanced(port: number): string {
      const servers = gateways.map((gateway, at) => `  server gateway${at} 127.0.0.1:${gateway.port}`).join('\n')
      return read('haproxy.cfg')
        .replace(/resolvers docker\n(?: .*\n)+/, '')
        .replace(' resolvers docker init-addr none', '')
        .replace('bind :8484', `bind 127.0.0.1:${port}`)
        .replace(/^ {2}server-template .*$/m, servers)
    }

    const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(url + path, { method: 'POST', headers: { ...client, ...headers }, body: JSON.stringify(body) })

    /** Asks under a key until there is an answer, as a client does that tries again. */
    async function ask(session: string, input: string): Promise<Told> {
      for (;;) {
        const response = await post(
          '/v1/turns',
          { input, session: { id: session } },
          { 'idempotency-key': input },
        ).catch(() => undefined)
        if (response?.ok) return (await response.json()) as Told
        if (response && ![502, 503, 504].includes(response.status)) return { text: await response.text() }
      }
    }

    /** The requests that a gateway has had, as the operator's scraper reads them. */
    async function requestsOf({ url: at }: Served): Promise<number> {
      const headers = { authorization: `Bearer ${ENV.TURNPIKE_ADMIN_KEY}` }
      const text = await (await fetch(`${at}/metrics`, { headers })).text()
      const counts = [...text.matchAll(/^turnpike_requests_total\{[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count))
      return counts.reduce((sum, count) => sum + count, 0)
    }

    test('gives a session its one gateway, whichever the balancer chooses', async () => {
      for (let turn = 1; turn <= GATEWAYS + 1; turn += 1) {
        const { outcome, text } = await ask('s', `turn ${turn}`)
        expect([outcome, text]).toEqual(['completed', `You said: turn ${turn} (turn ${turn} of this session)`])
      }
      for (const gateway of gateways) expect(await requestsOf(gateway)).toBeGreaterThan(0)
    })

    test('lets a client follow a turn through another gateway, from any of its events', async () => {
      const { id } = (await (await post('/v1/turns', { input: 'hi' }, { prefer: 'respond-async' })).json()) as Told
      const read = async (after: number): Promise<string[]> => {
        const headers = { ...client, 'last-event-id': String(after) }
        const text = await (await fetch(`${url}/v1/turns/${id}/events`, { headers })).text()
        return text.match(/^id: \d+$/gm) ?? []
      }
      const all = await read(0)
      for (let at = 0; at < GATEWAYS; at += 1) expect(await read(at + 1)).toEqual(all.slice(at + 1))
    })

    test('loses no turn while its gateways are restarted one after the other, and one is killed', async () => {
      let over = false
      const told: Told[] = []
      const clients = Array.from({ length: CLIENTS }, async (_, lane) => {
        for (let turn = 0; !over; turn += 1) told.push(await ask(`lane ${lane}`, `lane ${lane} turn ${turn}`))
      })
      for (const [at, gateway] of gateways.entries()) {
        gateway.process.kill(at === 1 ? 'SIGKILL' : 'SIGTERM')
        await once(gateway.process, 'exit')
        gateways[at] = await start(at, gateway.port)
        await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 200)
      }
      over = true
      await Promise.all(clients)
      expect(told.filter(({ outcome }) => outcome !== 'completed')).toEqual([])
      expect(told.length).toBeGreaterThan(CLIENTS)
    })

    test('sends traces and metrics to its collector', async () => {
      // Also what a gateway has sent last, when it stopped.
      await until(() => ['traces', 'metrics'].every((what) => exported.includes(`POST /v1/${what}`)))
      expect(new Set(exported).size).toBe(2)
    })
  },
)
