/** Many turns of many kinds on one gateway, and what it holds before, in the middle and behind them. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Held, type Served, serve } from '../hostile/served.ts'
import { AGENTS } from '../kit/gateway.ts'
import { TURNS } from '../kit/journal.ts'
import { until } from '../kit/processes.ts'

const LANES = 16
const RESOURCES = join(import.meta.dirname, 'resources.mjs')

/** What a gateway holds, with what its event loop waits for: timers, sockets, pipes. */
export interface Holding extends Held {
  resources: number
}

/** Shows the progress. */
type Show = (text: string) => void

/** The result of a soak. */
export interface Soaked {
  before: Holding
  middle: Holding
  after: Holding
  seconds: number
  /** What clients were told, and how often. */
  told: ReadonlyMap<string, number>
  /** Outcomes in the record, and how often; `none` for turns without an end. */
  kept: Readonly<Record<string, number>>
  /** Lines of the log that tell of errors. */
  errors: readonly string[]
}

const CONFIG = `
server: { port: 0, socket: false }
default: coder
limits: { grace: 300ms, queue: 1000 }
agents:
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc], pool: { max: 32, idle: 1s } }
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
log: { level: warn, pretty: false }
store: { path: ./turnpike.db }
`

/** What became of a turn, as its client saw it. */
async function one(gateway: Served, at: number): Promise<string> {
  const agent = at % 10 === 0 ? 'helper' : 'coder'
  const leaves = at % 50 === 7 ? AbortSignal.timeout(5) : undefined
  const cancelled = at % 50 === 13
  // A session for each lane, and a new one after some turns.
  const session = { id: `soak-${at % LANES}-${Math.floor(at / (LANES * 20))}` }
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    ...(cancelled && { prefer: 'respond-async' }),
  }
  try {
    const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ input: `turn ${at}`, session }),
      ...(leaves && { signal: leaves }),
    })
    const answer = (await response.json()) as { id?: string; outcome?: string; fault?: { code: string } }
    if (cancelled) await fetch(`${gateway.url}/v1/turns/${answer.id}/cancel`, { method: 'POST' })
    return cancelled ? 'told to stop' : [answer.outcome, answer.fault?.code].filter(Boolean).join(' ')
  } catch {
    return 'left'
  }
}

async function many(
  gateway: Served,
  { from, to }: { from: number; to: number },
  seen: Map<string, number>,
  progress: Show,
): Promise<void> {
  let next = from
  const lane = async (): Promise<void> => {
    while (next < to) {
      if (next % 100 === 0) progress(`turn ${next} of ${to}`)
      const what = await one(gateway, next++)
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** How often it is looked whether the last connections are closed, and after how many milliseconds again. */
const LOOKS = 50
const AGAIN_MS = 100

/**
 * What the gateway holds once all its agents and clients are gone. The last connections close a moment behind their
 * answers: it is looked again until no more is held than at `level`, or for the last time.
 */
async function settled(gateway: Served, file: string, level?: Holding): Promise<Holding> {
  for (let look = 1; ; look += 1) {
    await until(() => gateway.held().children === 0)
    rmSync(file, { force: true })
    gateway.process.kill('SIGUSR2')
    await until(() => existsSync(file))
    const now = { ...gateway.held(), resources: Number(readFileSync(file, 'utf8')) }
    const more = now.resources > (level?.resources ?? Infinity) || now.files > (level?.files ?? Infinity)
    if ((now.children === 0 && !more) || look === LOOKS) return now
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

function outcomes(gateway: Served): Record<string, number> {
  const db = new DatabaseSync(join(gateway.folder, 'turnpike.db'), { readOnly: true, timeout: 10_000 })
  const rows = db.prepare(`SELECT outcome, count(*) AS turns FROM ${TURNS} GROUP BY outcome`).all()
  db.close()
  return Object.fromEntries(rows.map(({ outcome, turns }) => [String(outcome ?? 'none'), Number(turns)]))
}

/**
 * So many turns behind so many to warm up. They go to agents that live over many turns and to some that live for one; one
 * in fifty is cancelled, one in fifty is left by its client. `progress` is told how far it is.
 */
export async function soak(turns: number, warm: number, progress: Show = () => {}): Promise<Soaked> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-soak-'))
  const file = join(folder, 'resources')
  const env = { RESOURCES_FILE: file, NODE_OPTIONS: `--import ${RESOURCES}` }
  const gateway = await serve(CONFIG, { folder, env })
  try {
    const told = new Map<string, number>()
    await many(gateway, { from: 0, to: warm }, new Map(), progress)
    const before = await settled(gateway, file)
    const began = performance.now()
    await many(gateway, { from: warm, to: warm + turns / 2 }, told, progress)
    const middle = await settled(gateway, file, before)
    await many(gateway, { from: warm + turns / 2, to: warm + turns }, told, progress)
    const seconds = (performance.now() - began) / 1000
    const after = await settled(gateway, file, before)
    const lines = gateway.logged().split('\n')
    const errors = lines.filter((line) => line.includes('"level":"error"'))
    return { before, middle, after, seconds, told, kept: outcomes(gateway), errors }
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
