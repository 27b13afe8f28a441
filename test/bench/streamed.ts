/** Lines of turns that go through warm processes and through an HTTP agent. */
import { MARK } from './answers.ts'
import type { Bench, Group, Server } from './bench.ts'
import { EVENTS } from './gateway.ts'
import { type LoadJob, load, type Measured } from './load.ts'
import { report, residentMb } from './processes.ts'
import { median } from './statistics.ts'
import type { LineInfo, Sample } from './table.ts'

/** What keeps a kind of line from its budget. */
const LIMITED = {
  tracing: 'the spans of each turn, which are not looked into; it has been 0.57 to 0.74',
  turn:
    'a third of it is what a turn costs whatever it says: its record (session, turn, transcript, usage, end), ' +
    'HTTP, routing, limits, both codecs. The rest is the record of each event and the text that is written for it. ' +
    'CPU for an event was 9 times the bridge before writes were gathered and deltas read by their shape',
  first:
    'the request is routed, recorded and carried to the agent before anything comes back, on one connection that lets ' +
    'the caches go cold between turns (a turn costs 1.1 ms then, 0.7 where 32 run). It is not improved',
  whole:
    'a turn is recorded in ten statements and one or two commits (a quarter), where the bridge has none, and passes two codecs ' +
    'and the laws of a turn; nothing else is over an eighth. It was 0.07 to 0.10 before the record was gathered',
  http:
    'the same as of whole turns. The proxy passes bytes on; here both envelopes are read, kept and written anew. It was 0.14 ' +
    'before the closing envelope was looked into once',
  memory:
    'by itself 1.2; in a whole run the gateway has served every load before and holds some 300 agents with their ' +
    'streams. It was 8.2 before sessions let go of their turns and the young generation was bounded',
} as const

type Shape = Pick<LoadJob, 'path' | 'kind' | 'headers'>

const SSE = { accept: 'text/event-stream' }
const FRONTS = {
  openharness: { path: '/v1/openharness/stream', kind: 'openharness', headers: SSE },
  native: { path: '/v1/turns/stream', kind: 'native', headers: SSE },
} as const satisfies Record<string, Shape>
const BRIDGE: Shape = { path: '/', kind: 'zene', headers: SSE }

/** Runs a load of a shape on a server, `width` streams at once. */
function run(bench: Bench, { port, pid }: Server, shape: Shape, width: number): Promise<Measured> {
  const job = { ...shape, port, width, ms: bench.amounts.ms, text: 'go', mark: MARK }
  return load(pid, { ...job, sessions: `${shape.kind}-${shape.path.replaceAll('/', '')}` })
}

const perSecond = ({ turns, seconds }: Measured): number => turns / seconds
const cpuPerEvent = ({ cpu, turns }: Measured): number => cpu / turns / EVENTS

function streamed(front: keyof typeof FRONTS, width: number): Group {
  const name = `${front}-${width}`
  const what = `streamed turn of ${EVENTS} events, ${front} SSE, ${width} at once`
  const lines: LineInfo[] = [
    line({ name, what: `${what}: events/s`, unit: '/s', budget: 0.8, bound: 'least', limitedBy: LIMITED.turn }),
    line({
      name: `${name}-cpu`,
      what: `${what}: CPU per event`,
      unit: 'µs',
      budget: 1.5,
      bound: 'most',
      limitedBy: LIMITED.turn,
    }),
  ]
  const first = {
    name: `${name}-first`,
    what: `${what}: time to the first event`,
    unit: 'ms',
    by: 'difference',
    limitedBy: LIMITED.first,
  } as const
  if (width === 1) lines.push(line({ ...first, budget: 0.5, bound: 'most' }))
  const most = {
    name: 'memory-128',
    what: `memory at ${width} streams`,
    unit: 'MB',
    budget: 1.5,
    bound: 'most',
    limitedBy: LIMITED.memory,
  } as const
  if (width === 128 && front === 'native') lines.push(line(most))
  return {
    name,
    lines,
    async round(bench) {
      const [bridge, gateway] = [await streamBridge(bench), await bench.gateway('main')]
      const limit = await run(bench, bridge, BRIDGE, width)
      const figure = await run(bench, gateway, FRONTS[front], width)
      return {
        [name]: { figure: perSecond(figure) * EVENTS, limit: perSecond(limit) * EVENTS },
        [`${name}-cpu`]: { figure: cpuPerEvent(figure), limit: cpuPerEvent(limit) },
        [`${name}-first`]: { figure: median(figure.firsts), limit: median(limit.firsts) },
        'memory-128': { figure: residentMb(gateway.pid), limit: residentMb(bridge.pid) },
      }
    },
  }
}

function streamBridge(bench: Bench): Promise<Server> {
  return bench.server('stream bridge', 'limits/bridge.ts', ['/bin/sh', ...bench.workshop.stream])
}

function line(of: Pick<LineInfo, 'name' | 'what' | 'unit' | 'budget' | 'bound'> & Partial<LineInfo>): LineInfo {
  return { against: 'bridge', by: 'ratio', ...of }
}

/** What a pipe gives, with no gateway and no translation: for scale, with a budget that always holds. */
const pipe: Group = {
  name: 'pipe',
  lines: [
    line({
      name: 'pipe',
      what: 'bridge, 1 at once: events/s',
      unit: '/s',
      against: 'raw pipe',
      budget: 0,
      bound: 'least',
    }),
  ],
  async round(bench) {
    const args = [String(bench.amounts.ms), '/bin/sh', ...bench.workshop.stream]
    const raw = await report<{ turns: number; seconds: number }>('limits/pipe.ts', args)
    const bridge = await run(bench, await streamBridge(bench), BRIDGE, 1)
    return { pipe: { figure: perSecond(bridge) * EVENTS, limit: (raw.turns / raw.seconds) * EVENTS } }
  },
}

function whole(width: number): Group {
  const name = `whole-${width}`
  const what = `whole turn, Zene over HTTP to a warm zot process, ${width} at once: turns/s`
  return {
    name,
    lines: [line({ name, what, unit: '/s', budget: 0.7, bound: 'least', limitedBy: LIMITED.whole })],
    async round(bench) {
      const bridge = await bench.server('short bridge', 'limits/bridge.ts', ['/bin/sh', ...bench.workshop.short])
      const limit = await run(bench, bridge, { path: '/', kind: 'zene' }, width)
      const figure = await run(bench, await bench.gateway('main'), { path: '/v1/zene/short', kind: 'zene' }, width)
      return { [name]: { figure: perSecond(figure), limit: perSecond(limit) } }
    },
  }
}

const proxied: Group = {
  name: 'http-32',
  lines: [
    line({
      name: 'http-32',
      what: 'HTTP to HTTP agent, OpenHarness both sides, 32 at once: turns/s',
      unit: '/s',
      against: 'proxy',
      budget: 0.7,
      bound: 'least',
      limitedBy: LIMITED.http,
    }),
  ],
  async round(bench) {
    const upstream = await bench.server('upstream', 'limits/upstream.ts')
    const proxy = await bench.server('proxy', 'limits/proxy.ts', [String(upstream.port)])
    const gateway = await bench.gateway('http', { upstream: upstream.port })
    const limit = await run(bench, proxy, { path: '/', kind: 'envelope' }, 32)
    const figure = await run(bench, gateway, { path: '/v1/openharness/engine', kind: 'envelope' }, 32)
    return { 'http-32': { figure: perSecond(figure), limit: perSecond(limit) } }
  },
}

/**
 * A gateway with something on against one without: turns/s of short whole turns, 8 at once. Both serve nothing else, so
 * that neither is warmer than the other.
 */
function against(name: string, what: string, budget: number, on: (bench: Bench) => Promise<Server>): Group {
  const info = line({ name, what, unit: '/s', against: 'off', budget, bound: 'least', limitedBy: LIMITED.tracing })
  return {
    name,
    lines: [info],
    async round(bench) {
      const shape: Shape = { path: '/v1/zene/short', kind: 'zene' }
      const limit = await run(bench, await bench.gateway('plain'), shape, 8)
      const figure = await run(bench, await on(bench), shape, 8)
      return { [name]: { figure: perSecond(figure), limit: perSecond(limit) } satisfies Sample }
    },
  }
}

const journal: Group = {
  ...against('journal', '', 0.85, (bench) => bench.gateway('plain')),
  lines: [
    line({
      name: 'journal',
      what: 'journal on disk against one in memory without content, 8 at once: turns/s',
      unit: '/s',
      against: 'in memory',
      budget: 0.85,
      bound: 'least',
    }),
  ],
  async round(bench) {
    const shape: Shape = { path: '/v1/zene/short', kind: 'zene' }
    const yaml = 'routes: [{ when: {}, agent: short, journal: shape }]\n'
    const off = await run(bench, await bench.gateway('forgetful', { forgetful: true, yaml }), shape, 8)
    const on = await run(bench, await bench.gateway('plain'), shape, 8)
    return { journal: { figure: perSecond(on), limit: perSecond(off) } }
  },
}

const tracing = against('tracing', 'tracing on (10 % sampled) against off, 8 at once: turns/s', 0.6, async (bench) => {
  const { port } = await bench.server('sink', 'limits/sink.ts')
  return bench.gateway('traced', { yaml: `telemetry: { otlp: "http://127.0.0.1:${port}", sample: 0.1 }\n` })
})

/** All groups of this file. */
export const STREAMED: readonly Group[] = [
  pipe,
  ...(['openharness', 'native'] as const).flatMap((front) => [1, 32, 128].map((width) => streamed(front, width))),
  whole(1),
  whole(32),
  proxied,
  journal,
  tracing,
]
