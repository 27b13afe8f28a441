/** Lines of what starts processes: an agent for each turn, and stand-ins. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Group } from './bench.ts'
import { load } from './load.ts'
import { benchFile, report, timed } from './processes.ts'
import { median, quantile } from './statistics.ts'

/** Each stand-in has a request and a session of its own, as programs that are started once a turn have. */
let requests = 0
function request(): string {
  requests += 1
  const id = `${process.pid}-${requests}`
  return `${JSON.stringify({ request_id: `r-${id}`, session_id: `s-${id}`, prompt: 'tick' })}\n`
}
const HOST = ['host', '--protocol', 'v1', '--bridge-compat', '--single-request']

/** The agents of one turn: the script and the input of the limit, the agent of the gateway. */
const AGENTS = {
  spawn: { what: 'HTTP to an AGENT_ script', script: 'agents/once.sh', input: '', path: '/v1/zene/once' },
  'zene-once': {
    what: 'HTTP to a Zene one-shot',
    script: 'agents/zene.sh',
    input: '{"request_id":"r","session_id":"s","prompt":"tick"}\n',
    path: '/v1/zene/zene',
  },
} as const

/** How many turns at once warm up a path. */
const WARM_WIDTH = 8

function spawned(kind: keyof typeof AGENTS, width: number): Group {
  const { what, script, input, path } = AGENTS[kind]
  const name = `${kind}-${width}`
  return {
    name,
    lines: [
      {
        name,
        what: `${what}, ${width} at once: turns/s`,
        unit: '/s',
        against: 'direct spawn',
        by: 'ratio',
        budget: 0.85,
        bound: 'least',
        limitedBy:
          'the turn itself beside the start of the script, which nothing overlaps with one at a time. It was 0.38 when the ' +
          'gateway started its agents itself',
      },
    ],
    async round(bench) {
      const args = [String(bench.amounts.ms), String(width), input, benchFile(script)]
      const direct = await report<{ turns: number; seconds: number }>('limits/spawn.ts', args)
      const gateway = await bench.gateway('main')
      // One load warms up all widths: a turn runs the same code at each.
      const atOnce = bench.warming ? WARM_WIDTH : width
      const length = bench.lengthFor(gateway, kind, atOnce)
      const job = { port: gateway.port, path, kind: 'zene', text: 'tick', mark: 'tick', sessions: kind } as const
      const { turns, seconds } = await load(gateway.pid, { ...job, ...length, width: atOnce })
      return { [name]: { figure: turns / seconds, limit: direct.turns / direct.seconds } }
    },
  }
}

const stall: Group = {
  name: 'spawn-stall',
  lines: [
    {
      name: 'spawn-stall',
      what: 'event loop held by a start of a process, at 350 MB of gateway memory: p99',
      unit: 'ms',
      against: '',
      by: 'figure',
      budget: 2,
      bound: 'most',
    },
  ],
  async round(bench) {
    const file = join(bench.workshop.folder, 'stalls.json')
    const env = { BENCH_BALLAST_MB: '290', BENCH_STALLS: file }
    const { port, pid } = await bench.gateway('heavy', { imports: ['programs/ballast.ts'], env })
    const job = { port, path: '/v1/zene/once', kind: 'zene', text: 'tick', mark: 'tick', width: 2 } as const
    const ms = Math.max(bench.amounts.ms, 500)
    // What was started with the gateway held nobody up.
    await load(pid, { ...job, ms: 0, sessions: 'stall' })
    const begin = Date.now()
    await load(pid, { ...job, ms, sessions: 'stall' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const { stalls } = JSON.parse(readFileSync(file, 'utf8')) as { stalls: { at: number; ms: number }[] }
    const found = stalls.filter(({ at }) => at >= begin).map((stall) => stall.ms)
    return { 'spawn-stall': { figure: quantile(found, 0.99), limit: 0 } }
  },
}

/** Milliseconds of `times` runs, the median. */
async function typical(times: number, run: () => Promise<number>): Promise<number> {
  const took: number[] = []
  for (let n = 0; n < times; n += 1) took.push(await run())
  return median(took)
}

const bare = (): Promise<number> => timed(process.execPath, ['-e', '0'])
const standIn = ({ workshop }: Bench, config: string): Promise<number> =>
  timed(workshop.launcher, ['as', 'zene', '--config', config, ...HOST], { input: request(), expected: '"text":"tick"' })

async function thin(bench: Bench): Promise<{ figure: number; limit: number }> {
  const { port, pid, config } = await bench.gateway('main')
  const { times } = bench.amounts
  const empty = await typical(times, bare)
  const figure = await typical(times, () => standIn(bench, config))
  const job = { port, path: '/v1/zene', kind: 'zene', text: 'tick', mark: 'tick', width: 1, ms: 0 } as const
  const { lasts } = await load(pid, { ...job, turns: times * 2, sessions: `thin-${times}` })
  return { figure, limit: empty + median(lasts) }
}

const oneShot: Group = {
  name: 'one-shot',
  lines: [
    {
      name: 'one-shot-thin',
      what: '`turnpike as zene` with a gateway running: wall time',
      unit: 'ms',
      against: '`node -e 0` + the turn',
      by: 'ratio',
      budget: 1.25,
      bound: 'most',
      limitedBy:
        'loading node:net and the streams under it (3 ms), the shell that finds Node.js (2 ms), and the connection. It cost ' +
        '80 ms over `node -e 0` before it was one file without a library, and 9 more under an option of V8',
    },
    {
      name: 'one-shot-alone',
      what: '`turnpike as zene` alone, sh agent: wall time',
      unit: 'ms',
      against: '`node -e 0` + the agent',
      by: 'ratio',
      budget: 1.6,
      bound: 'most',
      limitedBy:
        'what no run can leave out: our code (10 ms), the streams to the agent, the database, the turn. It was 3.9 ' +
        'before the compiled configuration and the kept code of V8, and 9 ms more under an option of V8',
    },
  ],
  async round(bench) {
    const { times } = bench.amounts
    const config = await bench.alone()
    const empty = await typical(times, bare)
    const agent = await typical(times, () => timed(benchFile('agents/once.sh'), []))
    await standIn(bench, config)
    const alone = await typical(times, () => standIn(bench, config))
    return { 'one-shot-thin': await thin(bench), 'one-shot-alone': { figure: alone, limit: empty + agent } }
  },
}

/** All groups of this file. */
export const STARTED: readonly Group[] = [
  ...(['spawn', 'zene-once'] as const).flatMap((kind) => [1, 8, 32].map((width) => spawned(kind, width))),
  stall,
  oneShot,
]
