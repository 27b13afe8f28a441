/** Lines of replicas beside PostgreSQL, from Debian's package. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { POSTGRES_BIN, startPostgres } from '../kit/postgres.ts'
import type { Bench, Group, Server } from './bench.ts'
import { EVENTS, type GatewayOptions } from './gateway.ts'
import { run as runLive } from './live.ts'
import { quantile } from './statistics.ts'
import type { LineInfo } from './table.ts'
import { perSecond, run, SSE } from './turns.ts'

/** The time after which the server counts what a busy connection has done, in milliseconds. */
const COUNTED_MS = 1500

/** The replica that has the agent of live streams. */
const OWNER = 1
const REPLICAS = [1, 2, 3] as const
/** Turns at once, on each replica. */
const WIDTH = 16
/** Live streams at once that are sent on. */
const LIVE = 50

const TURN = { path: '/v1/turns/stream', kind: 'native', headers: SSE } as const
const STREAM = { path: '/v1/openharness/live', kind: 'openharness' } as const

/** The server of a run, with a connection of an administrator. */
async function database(bench: Bench): Promise<{ url: string; admin: pg.Client }> {
  return bench.once('database', async () => {
    const server = await startPostgres()
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    bench.onClose(async () => {
      await admin.end()
      await server.close()
    })
    return { url: server.url, admin }
  })
}

async function replica(bench: Bench, number: number): Promise<Server> {
  const { url } = await database(bench)
  const options: GatewayOptions = { database: url, labels: number === OWNER ? ['live'] : [] }
  return bench.gateway(`replica ${number}`, options)
}

/** The time for which the transactions of replicas without turns are counted, in milliseconds. */
const IDLE_MS = 5000

/** What the server has done so far: transactions, and bytes of its log; and the time of that, in milliseconds. */
async function done(bench: Bench): Promise<{ commits: number; bytes: number; at: number }> {
  const { admin } = await database(bench)
  await pause(COUNTED_MS)
  const at = performance.now()
  const { rows } = await admin.query(`
    SELECT (SELECT sum(xact_commit) FROM pg_stat_database)::float8 AS commits,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`)
  return { ...(rows[0] as { commits: number; bytes: number }), at }
}

const of = { against: 'one gateway on SQLite', bound: 'least' } as const

const turns: Group = {
  name: 'cluster-turns',
  lines: REPLICAS.map(
    (count): LineInfo => ({
      ...of,
      name: `cluster-${count}`,
      what: `streamed turns of ${EVENTS} events, ${WIDTH} at once on each of ${count} replicas: turns/s`,
      unit: '/s',
      by: 'ratio',
      budget: 0.5,
      limitedBy: 'the processors of one machine, which replicas, database, agents and load share',
    }),
  ),
  async round(bench) {
    const alone = perSecond(await run(bench, await bench.gateway('main'), TURN, WIDTH))
    const samples: Record<string, { figure: number; limit: number }> = {}
    // The most first: all of them warm up at once.
    for (const count of REPLICAS.toReversed()) {
      const servers = await Promise.all(REPLICAS.slice(0, count).map((number) => replica(bench, number)))
      const measured = await Promise.all(servers.map((server) => run(bench, server, TURN, WIDTH)))
      samples[`cluster-${count}`] = { figure: measured.reduce((sum, one) => sum + perSecond(one), 0), limit: alone }
    }
    return samples
  },
}

const cost: Group = {
  name: 'cluster-cost',
  once: true,
  lines: [
    {
      ...of,
      name: 'cluster-trips',
      what: 'transactions of a turn, one at a time, without those of idle replicas',
      unit: '',
      by: 'figure',
      budget: 3,
      bound: 'most',
    },
    {
      ...of,
      name: 'cluster-bytes',
      what: `bytes of the log for a turn of ${EVENTS} events`,
      unit: 'kB',
      by: 'figure',
      budget: 64,
      bound: 'most',
    },
  ],
  async round(bench) {
    const server = await replica(bench, OWNER)
    await replica(bench, OWNER + 1)
    const idle = await done(bench)
    await pause(IDLE_MS)
    const before = await done(bench)
    const { turns } = await run(bench, server, TURN, 1)
    const after = await done(bench)
    // The turn that each connection has had before it is measured counts too.
    const all = turns + 1
    const idly = ((before.commits - idle.commits) * (after.at - before.at)) / (before.at - idle.at)
    return {
      'cluster-trips': { figure: (after.commits - before.commits - idly) / all, limit: 0 },
      'cluster-bytes': { figure: (after.bytes - before.bytes) / all / 1000, limit: 0 },
    }
  },
}

const hop: Group = {
  name: 'cluster-hop',
  lines: ([50, 99] as const).map((share) => ({
    name: `cluster-hop-p${share}`,
    what: `${LIVE} live streams through another replica: latency of an event, p${share}`,
    unit: 'ms',
    against: 'the owner itself',
    by: 'difference',
    budget: share === 50 ? 2 : 10,
    bound: 'most',
  })),
  async round(bench) {
    const width = Math.min(LIVE, bench.amounts.widest ?? LIVE)
    const owner = await runLive(bench, await replica(bench, OWNER), STREAM, width)
    const other = await runLive(bench, await replica(bench, OWNER + 1), STREAM, width)
    const sample = (share: number) => ({
      figure: quantile(other.latencies, share),
      limit: quantile(owner.latencies, share),
    })
    return { 'cluster-hop-p50': sample(0.5), 'cluster-hop-p99': sample(0.99) }
  },
}

/** Nothing where there is no PostgreSQL. */
export const CLUSTER: readonly Group[] = POSTGRES_BIN === undefined ? [] : [turns, cost, hop]
