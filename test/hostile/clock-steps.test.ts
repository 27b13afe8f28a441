/** The wall clock of a gateway is set while turns run: an hour back, a day forward. Nothing comes early, and nothing never. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import type { EngineSettings } from '../../src/engine/common/settings.ts'
import { Upkeep } from '../../src/engine/record/upkeep.ts'
import { openStore } from '../../src/store/index.ts'
import { AGENTS } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { type Served, serve } from './served.ts'

const HOUR = 3_600_000
const STEPS = { 'an hour back': -HOUR, 'a day forward': 24 * HOUR } as const
/** Tells this test's agents from those of any other. */
const MARK = String(40_000_000 + process.pid)
const PARTIAL = `echo AGENT_PARTIAL:'\\"one\\"'`

interface Told {
  status: number
  outcome?: string
  turn?: string
  fault?: { code: string; message: string }
  timings?: { total: number }
}

/** Agents that are held until there is a file `go`, each in another phase of its turn, and those that never go on. */
const held = (before: string, after: string): string => `${before}; while [ ! -e go ]; do sleep 0.05; done; ${after}`
const shell = (protocol: string, script: string, limits: string): string =>
  `{ protocol: ${protocol}, command: /bin/sh, args: [-c, "${script}", "${MARK}"], limits: { ${limits} } }`
const PATIENT = 'start: 100s, firstEvent: 100s, idle: 100s, total: 100s'
const AGENT_LINES = {
  'waits-to-start': shell('zot', held(':', `exec ${process.execPath} ${AGENTS}/coder.mjs rpc`), PATIENT),
  'waits-to-speak': shell('agentproc', held(':', 'echo done'), PATIENT),
  'waits-to-go-on': shell('agentproc', held(PARTIAL, 'echo done'), PATIENT),
  'never-starts': shell('zot', 'exec sleep 1000', 'start: 1s, total: 1000s'),
  'never-speaks': shell('agentproc', 'exec sleep 1000', 'firstEvent: 1s, total: 1000s'),
  'never-goes-on': shell('agentproc', `${PARTIAL}; exec sleep 1000`, 'idle: 1s, total: 1000s'),
  'never-ends': shell('agentproc', 'exec sleep 1000', 'firstEvent: 1000s, total: 1s'),
}
const WAITING = ['waits-to-start', 'waits-to-speak', 'waits-to-go-on']
const ENDLESS: Record<string, string> = {
  'never-starts': 'agent-unavailable',
  'never-speaks': 'timeout',
  'never-goes-on': 'timeout',
  'never-ends': 'timeout',
}

const folder = mkdtempSync(join(tmpdir(), 'turnpike-clock-'))
const CLOCK_FILE = join(folder, 'clock')
const GO = join(folder, 'go')

describe.each(Object.entries(STEPS))('a clock that is set %s', { timeout: 60_000 }, (_step, ms) => {
  let gateway: Served
  const ask = async (agent: string, session: string, more: Record<string, string> = {}): Promise<Told> => {
    const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer plain', ...more },
      body: JSON.stringify({ input: 'hi', session: { id: session } }),
    })
    return { status: response.status, ...((await response.json()) as object) }
  }
  const step = async (): Promise<void> => {
    writeFileSync(CLOCK_FILE, String(ms))
    gateway.process.kill('SIGUSR2')
    await until(() => !existsSync(CLOCK_FILE))
  }
  let held: Promise<Told>[]
  let endless: Promise<Told>[]
  let first: Told

  beforeAll(async () => {
    rmSync(GO, { force: true })
    const agents = Object.entries(AGENT_LINES).map(([name, line]) => `  ${name}: ${line}`)
    gateway = await serve(
      `
server:
  port: 0
  socket: false
  keys:
    - { name: plain, env: PLAIN_KEY }
    - { name: slow, env: SLOW_KEY, limits: { perMinute: 1, burst: 1 } }
    - { name: quick, env: QUICK_KEY, limits: { perMinute: 300, burst: 1 } }
default: helper
limits: { grace: 200ms }
agents:
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc, "${MARK}-coder"], pool: { idle: 10m } }
  missing: { protocol: agentproc, command: /no/such/program, args: [], breaker: { failures: 1, cooldown: 10m } }
  lacking: { protocol: agentproc, command: /no/such/program, args: [], breaker: { failures: 1, cooldown: 300ms } }
${agents.join('\n')}
log: { level: warn, pretty: false }
store: { path: ./turnpike.db }
`,
      {
        folder,
        env: {
          CLOCK_FILE,
          NODE_OPTIONS: `--import ${join(import.meta.dirname, 'clock-steps.mjs')}`,
          ...{ PLAIN_KEY: 'plain', SLOW_KEY: 'slow', QUICK_KEY: 'quick' },
        },
      },
    )
    first = await ask('helper', 'once', { 'idempotency-key': 'k' })
    expect(first.outcome).toBe('completed')
    expect((await ask('coder', 'kept')).outcome).toBe('completed')
    for (const agent of ['missing', 'lacking']) expect((await ask(agent, agent)).outcome).toBe('failed')
    for (const key of ['slow', 'quick']) {
      expect((await ask('helper', key, { authorization: `Bearer ${key}` })).outcome).toBe('completed')
    }
    held = WAITING.map((agent) => ask(agent, agent))
    endless = Object.keys(ENDLESS).map((agent) => ask(agent, agent))
    await until(() => pidsOf(`\u0000${MARK}\u0000`).length >= WAITING.length)
    await step()
  })
  afterAll(async () => {
    await gateway.stop()
    rmSync(join(folder, 'turnpike.db'))
  })

  test('ends no turn early, whatever it waits for, and its duration is right', async () => {
    // Something that would come early has come by the time another turn is over.
    expect((await ask('helper', 'other')).outcome).toBe('completed')
    writeFileSync(GO, '')
    for (const turn of held) expect((await turn).outcome).toBe('completed')
    const listed = (await (
      await fetch(`${gateway.url}/v1/turns`, { headers: { authorization: 'Bearer plain' } })
    ).json()) as { turns: { startedAt: number; endedAt?: number; timings?: object }[] }
    const lengths = listed.turns.flatMap(({ startedAt, endedAt }) =>
      endedAt === undefined ? [] : [endedAt - startedAt],
    )
    const timings = listed.turns.flatMap((turn) => Object.values(turn.timings ?? {}) as number[])
    expect(lengths.length).toBeGreaterThan(WAITING.length)
    expect([...lengths, ...timings].filter((length) => length < 0 || length > 60_000)).toEqual([])
  })

  test('ends every turn that is out of time', async () => {
    const codes = (await Promise.all(endless)).map(({ fault }) => fault?.code)
    expect(codes).toEqual(Object.values(ENDLESS))
  })

  test('gives an answer again under its key', async () => {
    expect((await ask('helper', 'once', { 'idempotency-key': 'k' })).turn).toBe(first.turn)
  })

  test('keeps the process of a session', async () => {
    const before = pidsOf(`${MARK}-coder`)
    expect(before).toHaveLength(1)
    expect((await ask('coder', 'kept')).outcome).toBe('completed')
    expect(pidsOf(`${MARK}-coder`)).toEqual(before)
  })

  test('leaves circuits open for as long as they are to be, and no longer', async () => {
    const again = / failed 1 times in a row; it is tried again in (\d+) s\.$/
    const seconds = Number(again.exec((await ask('missing', 'missing')).fault!.message)?.[1])
    expect(seconds).toBeGreaterThan(500)
    expect(seconds).toBeLessThanOrEqual(600)
    while (again.test((await ask('lacking', 'lacking')).fault!.message))
      await new Promise((next) => setTimeout(next, 50))
  })

  test('leaves rates as they are', async () => {
    const slow = await ask('helper', 'slow', { authorization: 'Bearer slow' })
    expect([slow.status, slow.fault?.code]).toEqual([429, 'overloaded'])
    for (let quick = slow; quick.status !== 200; await new Promise((next) => setTimeout(next, 50))) {
      quick = await ask('helper', 'quick', { authorization: 'Bearer quick' })
    }
  })
})

test('old turns are deleted when both clocks say that they are old', async () => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  let now = 1_000_000_000
  const settings = { retention: HOUR, agents: new Map() } as Pick<
    EngineSettings,
    'retention' | 'agents'
  > as EngineSettings
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const upkeep = new Upkeep({
    store,
    breakers: new Breakers(() => 0),
    log,
    settings: { current: settings },
    now: () => now,
  })
  const key = { tenant: 'local', agent: 'a', session: 's', conversation: '' }
  await store.openSession(key, 's1', now)
  const about = {
    session: 's1',
    tenant: 'local',
    agent: 'a',
    front: 'zene',
    owner: 'o',
    epoch: 1,
    startedAt: 0,
    delivered: true,
  }
  for (const [turn, ago] of [
    ['old', 2 * HOUR],
    ['new', 0],
  ] as const) {
    await store.endTurn({ turn, ...about, endedAt: now - ago, outcome: 'completed' })
  }
  const kept = async (): Promise<string[]> =>
    (await store.listTurns({ tenant: 'local', limit: 10 }))!.rows.map(({ turn }) => turn)
  now += 24 * HOUR
  await upkeep.prune()
  expect(await kept()).toEqual(['new'])
  now -= 48 * HOUR
  await upkeep.prune()
  expect(await kept()).toEqual(['new'])
  upkeep.close()
  await store.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))
