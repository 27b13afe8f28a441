/**
 * A gateway that is killed at each step of the record of a turn, and what is there then: its client's answer, the store,
 * and what the next gateway answers to the same request. `EVERY=1` takes each step; without it `SEED` chooses some.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, expect, test } from 'vitest'
import { until } from '../kit/processes.ts'
import { type KeptTurn, turnsOf } from './kit.ts'
import { type Served, serve } from './served.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-steps-'))
const store = join(folder, 'turnpike.db')
const yaml = `server: { port: 0, socket: false }
default: a
agents: { a: { protocol: agentproc, command: /bin/sh, args: [-c, "echo $$ >> runs; echo done"] } }
limits: { grace: 200ms }
store: { path: ./turnpike.db }
`
const DIES = `--import=${join(import.meta.dirname, '../kit/dies.mjs')}`

/** More statements than a turn has. */
const STEPS = 16
/** Of so many moments one is tried: an odd number, so that some are before a step and some after one. */
const STRIDE = process.env['EVERY'] ? 1 : 7

type Kind = 'whole' | 'keyed' | 'stream'
type Moment = [kind: Kind, when: 'before' | 'after', at: number]

/** Moments of each kind of request, other ones with another seed; or all of them. */
function moments(): Moment[] {
  const all = Array.from({ length: 2 * STEPS }, (_, n) => [n % 2 === 0 ? 'before' : 'after', (n >> 1) + 1] as const)
  const seed = Number(process.env['SEED'] ?? 1)
  return (['whole', 'keyed', 'stream'] as const).flatMap((kind, which) =>
    all.filter((_, n) => (n + seed + 2 * which) % STRIDE === 0).map(([when, at]): Moment => [kind, when, at]),
  )
}

interface Told {
  turn: string
  outcome?: string
}

let port: number | undefined
let gateway: Served | undefined
async function start(env: Record<string, string> = {}): Promise<Served> {
  gateway = await serve(yaml, { folder, env, ...(port !== undefined && { port }) })
  port = gateway.port
  return gateway
}

/** What a client is told of a turn to its end; undefined when the gateway is gone before that. */
async function ask({ url }: Served, kind: Kind, session: string): Promise<Told | undefined> {
  const headers = {
    'content-type': 'application/json',
    ...(kind === 'keyed' && { 'idempotency-key': session }),
    ...(kind === 'stream' && { accept: 'text/event-stream' }),
  }
  const body = JSON.stringify({ input: 'go', session: { id: session } })
  try {
    const text = await (await fetch(`${url}/v1/turns`, { method: 'POST', headers, body })).text()
    const lines = text.split('\n').filter((line) => kind !== 'stream' || line.startsWith('data: '))
    const told = JSON.parse(lines.at(-1)!.replace(/^data: /, '')) as Told
    return told.outcome === undefined ? undefined : told
  } catch {
    return undefined
  }
}

const runs = (): number =>
  existsSync(join(folder, 'runs')) ? readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length : 0

/** How many messages the session's turns have, and whether one is recorded as running. */
function kept(session: string): { messages: number[]; running: number } {
  const db = new DatabaseSync(store, { readOnly: true })
  const of = 'WHERE session = (SELECT id FROM sessions WHERE session = ?)'
  const turns = db.prepare(`SELECT coalesce(json_array_length(messages), 0) AS n FROM turns ${of}`).all(session)
  const running = db.prepare(`SELECT count(*) AS n FROM running ${of}`).get(session)!['n'] as number
  db.close()
  return { messages: turns.map(({ n }) => Number(n)), running }
}

/** What must be in the record of a request whose client was told this. */
function judge(turns: readonly KeptTurn[], session: string, told: Told | undefined): void {
  expect(turns.length).toBeLessThanOrEqual(1)
  for (const { ends, endsLast, outcome, code } of turns) {
    expect({ ends, endsLast }).toEqual({ ends: 1, endsLast: true })
    expect([outcome, code]).toEqual(outcome === 'completed' ? ['completed', null] : ['failed', 'internal'])
  }
  const whole = turns.map(({ outcome }) => (outcome === 'completed' ? 2 : 0))
  expect(kept(session)).toEqual({ messages: whole, running: 0 })
  if (told) expect(turns).toMatchObject([{ turn: told.turn, outcome: 'completed' }])
}

afterEach(() => gateway?.stop())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(moments())('a gateway that dies in a %s turn, %s step %i', async (kind, when, at) => {
  const session = `${kind}-${when}-${at}`
  const dying = await start({ NODE_OPTIONS: DIES, DIES_IN: session, DIES_WHEN: when, DIES_AT: `${at}` })
  const gone = new Promise((resolve) => dying.process.once('exit', resolve))
  const told = await ask(dying, kind, session)
  if (told) dying.process.kill('SIGKILL')
  await gone
  if (told) expect(told.outcome).toBe('completed')

  const next = await start()
  await until(() => kept(session).running === 0)
  const turns = turnsOf(store, session)
  judge(turns, session, told)
  const before = runs()
  const again = (await ask(next, kind, session))!
  expect(again.outcome).toBe('completed')
  // An answer that is recorded is given again for its key; nothing else is.
  const replayed = kind === 'keyed' && turns[0]?.outcome === 'completed'
  expect([again.turn === turns[0]?.turn, runs() - before]).toEqual(replayed ? [true, 0] : [false, 1])
  if (kind === 'keyed') expect((await ask(next, kind, session))?.turn).toBe(again.turn)
})
