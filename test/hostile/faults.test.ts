import { spawnSync } from 'node:child_process'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS, ROOT } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { inLanes } from './kit.ts'
import { type Held, PIPE_FILES, type Served, serve } from './served.ts'

const KIT = join(ROOT, 'test/kit/agents')
const PRLIMIT = spawnSync('prlimit', ['--version']).status === 0
/** Tells this test's agents from those of any other. */
const MARK = String(20_000_000 + process.pid)

interface Told {
  status: number
  outcome?: string
  fault?: { code: string }
  turn?: string
}

/** The end that a client was told: exactly one, whatever the status. */
const endOf = ({ outcome, fault }: Told): string => (outcome === undefined ? `fault ${fault?.code}` : outcome)

let gateway: Served

const config = (agents = '', more = ''): string => `
server: { port: 0, socket: false }
default: helper
limits: { start: 20s, firstEvent: 20s, idle: 20s, total: 60s, grace: 200ms, queue: 500 }
agents:
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: ["${MARK}"] }
${agents}
log: { level: warn, pretty: false }
store: { path: ./data/turnpike.db }
${more}`
const ask = async (session: string, agent = 'helper'): Promise<Told> => {
  const body = JSON.stringify({ input: session, session: { id: session } })
  const headers = { 'content-type': 'application/json', connection: 'close' }
  const response = await fetch(`${gateway.url}/v1/turns/${agent}`, { method: 'POST', headers, body })
  return { status: response.status, ...((await response.json()) as object) }
}
/** So many turns, in sessions of their own, twenty at a time. */
const askMany = (count: number, agent = 'helper'): Promise<Told[]> =>
  Promise.all(
    inLanes(
      20,
      Array.from({ length: count }, (_, at) => () => ask(`many-${agent}-${at}`, agent)),
    ),
  )
const tally = (told: readonly Told[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const one of told) counts[endOf(one)] = (counts[endOf(one)] ?? 0) + 1
  return counts
}
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

describe('a gateway whose collector hangs', () => {
  const servers: Server[] = []
  let before: Held

  const listen = async (answer: (response: ServerResponse) => void): Promise<string> => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => answer(response))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  beforeAll(async () => {
    const collector = await listen(() => {})
    const engine = await listen((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
      response.write('{"protocol_version":"1.0.0","response":{"status":"success",', () => response.destroy())
    })
    // It takes a moment for each turn, so that there is something to kill.
    const script = JSON.stringify('sleep 0.1; echo "told: $AGENT_MESSAGE"')
    gateway = await serve(
      config(
        `  engine: { protocol: openharness, url: "${engine}" }
  slow: { protocol: agentproc, command: /bin/sh, args: [-c, ${script}, "${MARK}-slow"] }`,
        `telemetry: { otlp: "${collector}" }`,
      ),
    )
    expect(tally(await askMany(10))).toEqual({ completed: 10 })
    before = gateway.held()
  }, 60_000)
  afterAll(async () => {
    for (const server of servers) server.close().closeAllConnections()
    await gateway.stop()
    expect(pidsOf(MARK)).toEqual([])
  })
  afterEach(async () => {
    expect(endOf(await ask('next'))).toBe('completed')
    await until(() => {
      const { files, children } = gateway.held()
      return files <= before.files + 3 + PIPE_FILES && children <= before.children
    })
  })

  test('serves all the same', async () => {
    expect(tally(await askMany(40))).toEqual({ completed: 40 })
  })

  test('whose store another process has locked waits or refuses, and goes on when it is free', async () => {
    const file = join(gateway.folder, 'data/turnpike.db')
    const other = new DatabaseSync(file, { timeout: 10_000 })
    other.exec('BEGIN EXCLUSIVE')
    const waiting = Promise.all(['a', 'b'].map((session) => ask(session)))
    const told = await waiting
    for (const one of told) expect(endOf(one)).toBe('completed')
    other.exec('COMMIT')
    other.close()
    expect(endOf(await ask('after'))).toBe('completed')
  })

  test('ends every turn as failed on an engine that cuts its answers in the middle', async () => {
    expect(tally(await askMany(40, 'engine'))).toEqual({ failed: 40 })
  })

  test('whose agents are killed at random ends every turn once, and holds no more than before', async () => {
    let killed = 0
    const hunt = setInterval(() => {
      for (const pid of pidsOf(`${MARK}-slow`).filter((one) => one % 3 === 0)) {
        try {
          process.kill(pid, 'SIGKILL')
          killed += 1
        } catch {
          // It ended by itself.
        }
      }
    }, 40)
    const told = await askMany(100, 'slow')
    clearInterval(hunt)
    const counts = tally(told)
    expect(killed).toBeGreaterThan(0)
    expect(Object.keys(counts).sort()).toEqual(['completed', 'failed'])
    expect(total(counts)).toBe(100)
    expect(told.filter(({ outcome }) => outcome === 'failed').map(({ fault }) => fault!.code)).toEqual(
      Array(counts['failed']).fill('agent-crashed'),
    )
  })
})

describe('a gateway', () => {
  afterEach(async () => {
    await gateway.stop()
    expect(pidsOf(MARK)).toEqual([])
  })

  test.runIf(PRLIMIT)('whose disk is full ends every turn, and lives [needs prlimit]', async () => {
    gateway = await serve(config(), { under: ['prlimit', '--fsize=200000', '--'] })
    const told = await askMany(30)
    const counts = tally(told)
    expect(total(counts)).toBe(30)
    expect(Object.keys(counts).every((end) => ['completed', 'failed', 'fault internal'].includes(end))).toBe(true)
    expect(gateway.logged()).toContain('the record could not be written')
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })

  test.runIf(PRLIMIT).each([
    ['before there is a starter', 90, 0],
    ['with one', 90, 3],
    ['with one, and hardly any for it', 60, 3],
  ])(
    'that has no descriptors left refuses, and goes on when there are some again: %s [needs prlimit]',
    async (_when, descriptors, first) => {
      const silent = `  silent: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["${MARK}"], limits: { total: 1s } }`
      gateway = await serve(config(silent), { under: ['prlimit', `--nofile=${descriptors}`, '--'] })
      for (let turn = 0; turn < first; turn += 1) expect(endOf(await ask(`first-${turn}`))).toBe('completed')
      const told = await Promise.all(
        Array.from({ length: 40 }, (_, at) => ask(`silent-${at}`, 'silent').catch(() => 'no connection')),
      )
      for (const one of told) {
        expect(['failed', 'fault agent-unavailable', 'fault internal', 'no connection']).toContain(
          typeof one === 'string' ? one : endOf(one),
        )
      }
      await until(() => gateway.held().children === 0)
      expect(endOf(await ask('after'))).toBe('completed')
    },
  )
})
