/** Lines of live streams: many agents at once, each of which writes small events at the pace of a model. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Group, Server } from './bench.ts'
import { benchFile, cpuMicros, processesOf, program } from './processes.ts'
import { quantile } from './statistics.ts'
import type { LineInfo } from './table.ts'

/** Events that each agent writes in a second. */
const PER_SECOND = 50
const WIDTHS = [32, 128, 400, 1000] as const
/** The longest that a load goes on, in milliseconds, also in the round to warm up. */
const MOST_MS = 1500
/** The width at which latency and the cost of the load itself are reported. */
const CLOSELY = 400
/** With more of one processor's time than this the load would measure itself. */
const MOST_BUSY = 0.95

/** What the load of live streams does. */
export interface LiveJob {
  port: number
  path: string
  kind: 'openharness' | 'zene'
  width: number
  perSecond: number
  /** How long the agents write, in milliseconds. */
  ms: number
  /** The folder of the FIFOs that tell the agents when to write. */
  ticks: string
}

/** What came of it. */
export interface LiveResult {
  events: number
  seconds: number
  /** The load's own processor time, in microseconds. */
  own: number
  /** Milliseconds from telling an agent to write until its event has come, for each event. */
  latencies: number[]
}

/** A result with the processor time of the server and of the agents, in microseconds. */
interface LiveMeasured extends LiveResult {
  cpu: number
  agents: number
}

/** The agent of the live lines: its file and arguments. */
export function liveAgent(folder: string): string[] {
  return [benchFile('agents/live.sh'), join(folder, 'ticks')]
}

export async function run(bench: Bench, { port, pid }: Server, shape: Pick<LiveJob, 'path' | 'kind'>, width: number) {
  const ticks = join(bench.workshop.folder, 'ticks')
  if (mkdirSync(ticks, { recursive: true })) {
    execFileSync(
      'mkfifo',
      Array.from({ length: Math.max(...WIDTHS) }, (_, at) => join(ticks, String(at))),
    )
  }
  const ms = Math.min(MOST_MS, Math.max(bench.amounts.ms, 1000 / PER_SECOND))
  const job: LiveJob = { port, ...shape, width, perSecond: PER_SECOND, ms, ticks }
  const running = program('programs/streams.ts', [JSON.stringify(job)])
  await running.line()
  const agents = width === CLOSELY ? processesOf(['/bin/sh', ...liveAgent(bench.workshop.folder)]) : []
  const spent = (): number => agents.reduce((sum, agent) => sum + cpuMicros(agent), 0)
  const [before, agentsBefore] = [cpuMicros(pid), spent()]
  running.child.stdin!.write('go\n')
  const result = JSON.parse(await running.line()) as LiveResult
  const [cpu, byAgents] = [cpuMicros(pid) - before, spent() - agentsBefore]
  running.child.stdin!.write('end\n')
  await running.line()
  await running.stop()
  const busy = result.own / 1e6 / result.seconds
  if (busy > MOST_BUSY)
    throw new Error(`the load of ${width} live streams took ${Math.round(busy * 100)} % of a processor`)
  return { ...result, cpu, agents: byAgents } satisfies LiveMeasured
}

const LIMITED =
  'the record of each event, its laws and its carrying, which do not shrink when each read brings one event'

function live(width: number): Group {
  const name = `live-${width}`
  const what = `${width} live streams, ${PER_SECOND} events/s each, one write an event`
  const of = { against: 'bridge', bound: 'most', limitedBy: LIMITED } as const
  const added = { ...of, unit: 'ms', by: 'difference' } as const
  const lines: LineInfo[] = [{ ...of, name, what: `${what}: CPU per event`, unit: 'µs', by: 'ratio', budget: 1.25 }]
  if (width === CLOSELY) {
    lines.push(
      { ...added, name: `${name}-p50`, what: `${what}: latency of an event, median`, budget: 1 },
      { ...added, name: `${name}-p99`, what: `${what}: latency of an event, p99`, budget: 5 },
      {
        name: `${name}-load`,
        what: `${what}: CPU per event of the load and its agents`,
        unit: 'µs',
        against: 'the gateway',
        by: 'ratio',
        budget: 0,
        bound: 'least',
      },
    )
  }
  return {
    name,
    lines,
    async round(bench) {
      const agent = ['/bin/sh', ...liveAgent(bench.workshop.folder)]
      const bridge = await bench.server('live bridge', 'limits/bridge.ts', agent)
      const many = Math.min(width, bench.amounts.widest ?? width)
      const limit = await run(bench, bridge, { path: '/', kind: 'zene' }, many)
      const gateway = await bench.gateway('live')
      const figure = await run(bench, gateway, { path: '/v1/openharness/live', kind: 'openharness' }, many)
      const perEvent = ({ cpu, events }: LiveMeasured): number => cpu / events
      const latency = (share: number) => ({
        figure: quantile(figure.latencies, share),
        limit: quantile(limit.latencies, share),
      })
      return {
        [name]: { figure: perEvent(figure), limit: perEvent(limit) },
        [`${name}-p50`]: latency(0.5),
        [`${name}-p99`]: latency(0.99),
        [`${name}-load`]: { figure: (figure.own + figure.agents) / figure.events, limit: perEvent(figure) },
      }
    },
  }
}

/** All groups of this file. */
export const LIVE: readonly Group[] = WIDTHS.map(live)
