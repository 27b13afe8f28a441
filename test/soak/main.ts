/**
 * Many turns on one gateway, then what it holds: `node test/soak/main.ts [TURNS]` (10 000 when absent). Turns go to
 * agents that live over many turns and to some that live for one; one in fifty is cancelled, one in fifty is left by
 * its client. Prints one table; exits with 1 when a turn has no end, or something has stayed.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Held, type Served, serve } from '../hostile/served.ts'
import { AGENTS } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const LANES = 16
const WARM = 400
const TURNS = Number(process.argv[2] ?? 10_000)
const MIB = 1024 * 1024
/** What memory may vary by from one half to the next: what the runtime collects, it does not give back at once. */
const SLACK = 64 * MIB

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

async function many(gateway: Served, from: number, to: number, seen: Map<string, number>): Promise<void> {
  let next = from
  const lane = async (): Promise<void> => {
    while (next < to) {
      const what = await one(gateway, next++)
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** What the gateway holds once all its agents are gone: the shell that watches over them stays. */
async function settled(gateway: Served): Promise<Held> {
  await until(() => gateway.held().children <= 1)
  return gateway.held()
}

function ends(gateway: Served): { kept: Record<string, number>; without: number } {
  const db = new DatabaseSync(join(gateway.folder, 'turnpike.db'), { readOnly: true, timeout: 10_000 })
  const rows = db.prepare('SELECT outcome, count(*) AS turns FROM turns GROUP BY outcome').all()
  db.close()
  const kept = Object.fromEntries(rows.map(({ outcome, turns }) => [String(outcome ?? 'none'), Number(turns)]))
  return { kept, without: kept['none'] ?? 0 }
}

const gateway = await serve(CONFIG)
const seen = new Map<string, number>()
await many(gateway, 0, WARM, new Map())
const before = await settled(gateway)
const began = performance.now()
await many(gateway, WARM, WARM + TURNS / 2, seen)
const middle = await settled(gateway)
await many(gateway, WARM + TURNS / 2, WARM + TURNS, seen)
const seconds = (performance.now() - began) / 1000
const after = await settled(gateway)
const { kept, without } = ends(gateway)
const row = (name: string, { rss, files, children }: Held): string =>
  `${name.padEnd(8)}${(rss / MIB).toFixed(1).padStart(10)} MiB${String(files).padStart(8)} files${String(children).padStart(4)} processes`
const list = (counts: Iterable<[string, number]>): string =>
  [...counts].map(([what, count]) => `${what} ${count}`).join(', ')
process.stdout.write(`${TURNS} turns in ${seconds.toFixed(1)} s, after ${WARM} to warm up
clients: ${list(seen)}
record:  ${list(Object.entries(kept))}
${row('before', before)}\n${row('middle', middle)}\n${row('after', after)}\n`)
const grown = after.rss - middle.rss > SLACK || after.files > before.files + 2 || after.children > before.children
const errors = gateway
  .logged()
  .split('\n')
  .filter((line) => line.includes('"level":"error"'))
for (const line of errors.slice(0, 5)) process.stdout.write(`log: ${line}\n`)
await gateway.stop()
rmSync(gateway.folder, { recursive: true, force: true })
if (grown || without > 0 || errors.length > 0) {
  process.stdout.write('FAILED: something has stayed, a turn has no end, or the gateway has logged an error\n')
  process.exitCode = 1
}
