/** A store on a file system of its own that is really full: what is refused, what goes on, and what is told of it. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { turnsOf } from './kit.ts'
import { type Served, serve } from './served.ts'

interface Told {
  status: number
  outcome?: string
  text?: string
  turn?: string
  notices?: { code: string }[]
  fault?: { code: string; message: string; retryable: boolean }
}

const disk = mkdtempSync(join(tmpdir(), 'turnpike-disk-'))
const MOUNTED = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]).status === 0
const filler = join(disk, 'filler')
const store = join(disk, 'turnpike.db')

const REFUSED = {
  status: 503,
  fault: {
    code: 'agent-unavailable',
    message:
      'The gateway cannot write its record now, so it can keep no promise about this request; send it again later.',
    retryable: true,
    retryAfterMs: 1000,
  },
}

/** Leaves nothing free: what SQLite has taken already stays its own. */
function fill(): void {
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k', 'count=4096'])
}

describe.runIf(MOUNTED)('a gateway whose disk is full [needs a mount]', { timeout: 60_000 }, () => {
  let gateway: Served

  const ask = async (session: string, headers: Record<string, string> = {}, agent = 'helper'): Promise<Told> => {
    const body = JSON.stringify({ input: session, session: { id: session } })
    const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    const { outcome, text, turn, notices, fault } = (await response.json()) as Told
    return {
      status: response.status,
      ...(outcome && { outcome, text, turn }),
      ...(notices && { notices }),
      ...(fault && { fault }),
    }
  }
  const keyed = (session: string, key: string, agent?: string): Promise<Told> =>
    ask(session, { 'idempotency-key': key }, agent)
  const ready = async (): Promise<[number, unknown]> => {
    const response = await fetch(`${gateway.url}/readyz`)
    return [response.status, await response.json()]
  }
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(text)?.[1])
  }
  const writableAgain = async (): Promise<void> => {
    rmSync(filler)
    while ((await ready())[0] !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  beforeAll(async () => {
    gateway = await serve(`
server: { port: 0, socket: false }
default: helper
limits: { start: 20s, firstEvent: 20s, idle: 20s, total: 60s, grace: 200ms }
agents:
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
  slow: { protocol: agentproc, command: /bin/sh, args: [-c, "while [ ! -e go ]; do sleep 0.05; done; echo done"] }
  marks: { protocol: agentproc, command: /bin/sh, args: [-c, "touch begun; exec sleep 20"] }
log: { level: warn, pretty: false }
store: { path: ${store} }
`)
    expect(await keyed('before', 'k1')).toMatchObject({ status: 200, outcome: 'completed' })
    expect(await ready()).toEqual([200, { status: 'ready' }])
    expect(await metric('turnpike_store_writable')).toBe(1)
  })
  afterAll(async () => {
    await gateway.stop()
    spawnSync('umount', [disk])
    rmSync(disk, { recursive: true, force: true })
  })

  test('refuses what rests on the record, from the request on that finds it out', async () => {
    fill()
    // Its turn may have begun before it was found out: then it has its end, nothing of it was shown, its agent is stopped.
    const { outcome = 'failed', text = '', ...first } = await keyed('first', 'k2', 'slow')
    expect({ outcome, text, ...first }).toMatchObject({ ...REFUSED, outcome: 'failed', text: '' })
    await until(() => gateway.held().children === 0)
    expect(await ready()).toEqual([503, { status: 'store-unwritable' }])
    expect(await keyed('second', 'k3', 'marks')).toEqual(REFUSED)
    expect(await ask('third', { prefer: 'respond-async' }, 'marks')).toEqual(REFUSED)
    expect(existsSync(join(gateway.folder, 'begun'))).toBe(false)
  })

  test('lets other turns go on and says that they are not recorded', async () => {
    const told = await ask('plain')
    expect(told).toMatchObject({ status: 200, outcome: 'completed', text: expect.stringContaining('plain') as string })
    expect(told.notices?.map(({ code }) => code)).toEqual(['unrecorded'])
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })

  test('counts, and logs once', async () => {
    expect(await metric('turnpike_store_writable')).toBe(0)
    expect(await metric('turnpike_store_failures_total')).toBeGreaterThan(0)
    expect(gateway.logged().match(/the record could not be written/g)).toHaveLength(1)
    expect(gateway.logged()).toContain('the disk is full')
  })

  test('keeps its promises again when there is room, also to sessions that began meanwhile', async () => {
    await writableAgain()
    expect(await metric('turnpike_store_writable')).toBe(1)
    const first = await keyed('plain', 'k4')
    expect(first).toMatchObject({ status: 200, outcome: 'completed' })
    expect(first.notices).toBeUndefined()
    expect((await keyed('plain', 'k4')).turn).toBe(first.turn)
    expect(turnsOf(store, 'plain')).toMatchObject([{ turn: first.turn, outcome: 'completed', ends: 1, endsLast: true }])
    expect(turnsOf(store, 'first')).toEqual([])
    expect(gateway.logged()).toContain('the record can be written again')
  })

  test('ends the record of a turn that it could not follow', async () => {
    const running = ask('slow', {}, 'slow')
    await until(() => turnsOf(store, 'slow').length === 1)
    const { turn } = turnsOf(store, 'slow')[0]!
    fill()
    expect(await keyed('other', 'k5')).toMatchObject(REFUSED)
    const followed = await fetch(`${gateway.url}/v1/turns/${turn}/events`)
    expect(await followed.text()).toContain('"agent-unavailable"')
    await writableAgain()
    writeFileSync(join(gateway.folder, 'go'), '')
    const told = await running
    expect(told).toMatchObject({ status: 200, outcome: 'completed', text: 'done', turn })
    expect(told.notices?.map(({ code }) => code)).toEqual(['unrecorded'])
    await until(() => turnsOf(store, 'slow')[0]?.outcome !== null)
    expect(turnsOf(store, 'slow')).toMatchObject([
      { turn, outcome: 'failed', code: 'internal', ends: 1, endsLast: true },
    ])
  })
})
