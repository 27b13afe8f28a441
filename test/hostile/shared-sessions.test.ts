/** Two gateways on one store that are asked for turns of the same sessions, as behind a load balancer that knows nothing. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { type Served, serve } from './served.ts'

const MARK = String(60_000_000 + process.pid)
const folder = mkdtempSync(join(tmpdir(), 'turnpike-shared-'))
const DIARY = join(folder, 'diary')
/** Writes down when it begins and ends; waits for a file that is named like its message. */
const SCRIPT = `echo begin $AGENT_MESSAGE >>${DIARY}; while [ ! -e ${folder}/$AGENT_MESSAGE ]; do sleep 0.02; done; echo end $AGENT_MESSAGE >>${DIARY}; echo done`
const YAML = `server: { port: 0, socket: false }
default: coder
agents:
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc, "${MARK}"] }
  strict: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc, "${MARK}"], restore: fail }
  diary: { protocol: agentproc, command: /bin/sh, args: [-c, "${SCRIPT}"] }
  hasty: { protocol: agentproc, command: /bin/sh, args: [-c, "${SCRIPT}"] }
routes: [{ when: { session: v }, agent: hasty, busy: reject }]
limits: { grace: 200ms }
log: { level: warn, pretty: false }
store: { path: ./turnpike.db }
`

interface Told {
  outcome: string
  text: string
  notices?: { code: string; text: string }[]
  fault?: { code: string; message: string }
}

describe('a session that two gateways serve', { timeout: 60_000 }, () => {
  let one: Served
  let other: Served
  beforeAll(async () => {
    ;[one, other] = await Promise.all([serve(YAML, { folder }), serve(YAML, { folder })])
  })
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  const ask = async (gateway: Served, agent: string, session: string, input: string): Promise<Told> => {
    const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, session: { id: session } }),
    })
    return (await response.json()) as Told
  }
  const said = ({ text, notices = [] }: Told): string => [...notices.map(({ code }) => code), text].join(' | ')
  const diary = (): string[] => readFileSync(DIARY, 'utf8').trim().split('\n')

  test('is not answered by a process that has not heard what was said to the other one', async () => {
    expect(said(await ask(one, 'coder', 's', 'a'))).toBe('You said: a (turn 1 of this session)')
    expect(said(await ask(one, 'coder', 's', 'b'))).toBe('You said: b (turn 2 of this session)')
    expect(said(await ask(other, 'coder', 's', 'c'))).toBe('session-reset | You said: c (turn 1 of this session)')
    expect(said(await ask(other, 'coder', 's', 'd'))).toBe('You said: d (turn 2 of this session)')
    const back = await ask(one, 'coder', 's', 'e')
    expect(said(back)).toBe('session-reset | You said: e (turn 1 of this session)')
    expect(back.notices![0]!.text).toMatch(/^The session had gone on in another process of the gateway: /)
    expect(said(await ask(one, 'coder', 's', 'f'))).toBe('You said: f (turn 2 of this session)')
    // The process of before is gone: there is one for each gateway.
    await until(() => pidsOf(MARK).length === 2)
  })

  test('is refused where it may only go on with its own process', async () => {
    expect((await ask(one, 'strict', 't', 'a')).outcome).toBe('completed')
    expect((await ask(other, 'strict', 't', 'b')).fault?.code).toBe('session-not-found')
  })

  test('runs one turn at a time, in the order in which they begin', async () => {
    writeFileSync(DIARY, '')
    const first = ask(one, 'diary', 'u', 'm1')
    await until(() => diary().includes('begin m1'))
    const second = ask(other, 'diary', 'u', 'm2')
    await until(() => listed(other, 2))
    const third = ask(one, 'diary', 'u', 'm3')
    await until(() => listed(one, 3))
    for (const name of ['m3', 'm2', 'm1']) writeFileSync(join(folder, name), '')
    for (const turn of [first, second, third]) expect((await turn).outcome).toBe('completed')
    expect(diary()).toEqual(['m1', 'm2', 'm3'].flatMap((name) => [`begin ${name}`, `end ${name}`]))
  })

  test('is busy in both when a turn runs in one of them', async () => {
    writeFileSync(DIARY, '')
    const first = ask(one, 'hasty', 'v', 'm4')
    await until(() => diary().includes('begin m4'))
    expect((await ask(other, 'hasty', 'v', 'm5')).fault?.code).toBe('session-busy')
    writeFileSync(join(folder, 'm4'), '')
    expect((await first).outcome).toBe('completed')
    writeFileSync(join(folder, 'm6'), '')
    expect((await ask(other, 'hasty', 'v', 'm6')).outcome).toBe('completed')
  })

  /** True when so many turns of the agent that keeps a diary have begun. */
  async function listed(gateway: Served, count: number): Promise<boolean> {
    const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { agent: string }[] }
    return turns.filter(({ agent }) => agent === 'diary').length === count
  }
})
