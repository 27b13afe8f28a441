/**
 * Several processes on one store, of which some are stopped or killed in the middle of turns: a gateway that is stopped
 * for longer than its lease, one of another host that is killed, a stand-in that is killed; and those that need their
 * turns. All of it happens at once, because leases take their time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoreLocation } from '../../src/contract/index.ts'
import { TURNPIKE } from '../kit/gateway.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { allTurns, type KeptTurn, turnsIn } from './kit.ts'
import { type Served, serve } from './served.ts'

const LOST = 'The gateway was stopped before the turn had ended; send the request again.'
/** Tells this test's agents from those of any other. */
const MARK = String(50_000_000 + process.pid)

/** What gives a process another host name, where this user may do that. */
const OTHER_HOST = [
  ['unshare', '--uts', 'sh', '-c', 'hostname elsewhere && exec "$@"', 'sh'],
  ['unshare', '--user', '--map-root-user', '--uts', 'sh', '-c', 'hostname elsewhere && exec "$@"', 'sh'],
].find(([program, ...args]) => spawnSync(program!, [...args, 'true']).status === 0)

interface Told {
  turn?: string
  outcome?: string
  text?: string
  fault?: { code: string; message: string; retryable: boolean }
}

async function ask(gateway: Served, agent: string, key: string): Promise<Told> {
  const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ input: key, session: { id: key } }),
  })
  return (await response.json()) as Told
}

/** A stand-in that runs its turn itself, with the configuration in a folder. */
function standIn(folder: string): { child: ChildProcess; said: Promise<string> } {
  const args = [TURNPIKE, 'as', 'zene', '--config', join(folder, 'turnpike.yaml')]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const request = { request_id: 'alone', session_id: 'alone', prompt: 'hi', idempotency_key: 'alone' }
  child.stdin.end(`${JSON.stringify(request)}\n`)
  return { child, said: new Promise((resolve) => child.once('exit', () => resolve(said))) }
}

interface Kind {
  kind: StoreLocation['kind']
  /** Opens the place of a new store: for the configuration, and its turns for the test. */
  open(folder: string): Promise<{ at: StoreLocation; turns: () => Promise<KeptTurn[]>; close(): Promise<void> }>
}

const KINDS: readonly Kind[] = [
  {
    kind: 'sqlite',
    async open(folder) {
      const path = join(folder, 'turnpike.db')
      return { at: { kind: 'sqlite', path }, turns: async () => allTurns(path), close: async () => {} }
    },
  },
  {
    kind: 'postgres',
    async open() {
      const server: PostgresServer = await startPostgres()
      const at = { kind: 'postgres', url: server.url, schema: 'leases' } as const
      return { at, turns: () => turnsIn(at), close: () => server.close() }
    },
  },
]
const USABLE = KINDS.filter(({ kind }) => kind !== 'postgres' || POSTGRES_BIN !== undefined)

// At the same time, because most of it is waiting.
describe.each(USABLE)('processes that share a store: $kind', { timeout: 60_000, concurrent: true }, ({ open }) => {
  describe('', { sequential: true }, () => scene(open))
})

function scene(open: Kind['open']): void {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-leases-'))
  const GO = join(folder, 'go')
  const BEGUN = join(folder, 'begun')
  const agent = (name: string, script: string): string =>
    `  ${name}: { protocol: agentproc, command: /bin/sh, args: [-c, "echo >>${BEGUN}; ${script}", "${MARK}"], pool: { max: 9 } }\n`
  const yaml = (): string => `server: { port: 0, socket: false }
default: held
limits: { start: 100s, firstEvent: 100s, idle: 100s, total: 100s, grace: 200ms }
agents:
${agent('held', `while [ ! -e ${GO} ]; do sleep 0.05; done; echo done`)}${agent('endless', `exec sleep ${MARK}`)}log: { level: warn, pretty: false }
store: ${JSON.stringify(store.at)}
`
  /** How many agents have begun. */
  const begun = (): number => readFileSync(BEGUN, 'utf8').length

  let store: Awaited<ReturnType<Kind['open']>>
  let witness: Served
  let stopped: Served
  let elsewhere: Served
  const told: Record<string, Promise<Told>> = {}
  let standIns: { killed: Promise<string>; next: Promise<string> }
  let killedIn = 0

  beforeAll(async () => {
    writeFileSync(BEGUN, '')
    store = await open(folder)
    ;[witness, stopped, elsewhere] = await Promise.all([
      serve(yaml(), { folder }),
      serve(yaml(), { folder }),
      serve(yaml(), { folder, under: OTHER_HOST ?? [] }),
    ])
    const first = standIn(folder)
    told['stopped'] = ask(stopped, 'held', 'stopped')
    told['endless'] = ask(stopped, 'endless', 'endless')
    const killed = ask(elsewhere, 'held', 'elsewhere').catch(() => ({ outcome: 'none' }))
    await until(() => begun() === 4)

    const began = performance.now()
    stopped.process.kill('SIGSTOP')
    elsewhere.process.kill('SIGKILL')
    first.child.kill('SIGKILL')
    told['killed'] = killed
    // What is asked again where nothing has happened.
    told['stopped again'] = ask(witness, 'held', 'stopped')
    told['killed again'] = ask(witness, 'held', 'elsewhere')
    standIns = { killed: first.said, next: standIn(folder).said }
    // The agent of the stopped gateway ends its answer, which waits to be read.
    writeFileSync(GO, '')
    await told['stopped again']
    await told['killed again']
    await standIns.next
    killedIn = performance.now() - began
    await until(async () => (await store.turns()).every(({ outcome }) => outcome !== null))
    stopped.process.kill('SIGCONT')
  }, 60_000)
  afterAll(async () => {
    await Promise.all([witness.stop(), stopped.stop()])
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('have a request run again elsewhere when its process is stopped or gone, and not before that is certain', async () => {
    expect(await told['stopped again']).toMatchObject({ outcome: 'completed', text: 'done' })
    expect(await told['killed again']).toMatchObject({ outcome: 'completed', text: 'done' })
    expect(await standIns.killed).toBe('')
    expect(JSON.parse(await standIns.next)).toMatchObject({ ok: true, text: 'done' })
    expect(killedIn).toBeGreaterThan(3000)
  })

  test('tell who waits for a turn that others have ended that it failed, and end its agent', async () => {
    const lost = { outcome: 'failed', fault: { code: 'internal', message: LOST, retryable: true } }
    expect(await told['stopped']).toMatchObject(lost)
    expect(await told['endless']).toMatchObject(lost)
    await until(() => pidsOf(MARK).length === 0)
  })

  test('record one end of every turn, the first one', async () => {
    const turns = await store.turns()
    expect(turns.filter(({ ends, endsLast }) => ends !== 1 || !endsLast)).toEqual([])
    expect(turns.map(({ outcome, code }) => `${outcome} ${code}`).sort()).toEqual([
      'completed null',
      'completed null',
      'completed null',
      'failed internal',
      'failed internal',
      'failed internal',
      'failed internal',
    ])
  })

  test('run turns as before once they run again', async () => {
    expect(await ask(stopped, 'held', 'later')).toMatchObject({ outcome: 'completed', text: 'done' })
    expect(await ask(stopped, 'held', 'stopped')).toMatchObject({ outcome: 'completed', text: 'done' })
  })
}
