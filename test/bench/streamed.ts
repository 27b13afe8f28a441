/** Lines of streamed turns that go through warm processes. */
import type { Bench, Group, Server } from './bench.ts'
import { EVENTS } from './gateway.ts'
import type { Measured } from './load.ts'
import { report, residentMb } from './processes.ts'
import { median } from './statistics.ts'
import type { LineInfo } from './table.ts'
import { cpuPerTurn, line, perSecond, run, type Shape, SSE } from './turns.ts'

/** What keeps a kind of line from its budget. */
const LIMITED = {
  turn:
    'a third of it is what a turn costs whatever it says: its record (session, turn, transcript, usage, end), ' +
    'HTTP, routing, limits, both codecs. The rest is the record of each event and the text that is written for it. ' +
    'CPU for an event was 9 times the bridge before writes were gathered and deltas read by their shape',
  first:
    'the request is routed, recorded and carried to the agent before anything comes back, on one connection that lets ' +
    'the caches go cold between turns',
  memory:
    'pages of Node.js (51 MB) and the heap (90 MB, 34 of them its young generation). It was 407 MB, and 204 to 239 before ' +
    'what V8 has used to compile was freed at once',
} as const

const FRONTS = {
  openharness: { path: '/v1/openharness/stream', kind: 'openharness', headers: SSE },
  native: { path: '/v1/turns/stream', kind: 'native', headers: SSE },
} as const satisfies Record<string, Shape>
const BRIDGE: Shape = { path: '/', kind: 'zene', headers: SSE }

const cpuPerEvent = (measured: Measured): number => cpuPerTurn(measured) / EVENTS

function streamed(front: keyof typeof FRONTS, width: number): Group {
  const name = `${front}-${width}`
  const what = `streamed turn of ${EVENTS} events, ${front} SSE, ${width} at once`
  const lines: LineInfo[] = [
    line({ name, what: `${what}: events/s`, unit: '/s', budget: 0.65, bound: 'least', limitedBy: LIMITED.turn }),
    line({
      name: `${name}-cpu`,
      what: `${what}: CPU per event`,
      unit: 'µs',
      budget: 2.2,
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
  if (width === 1) lines.push(line({ ...first, budget: 0.3, bound: 'most' }))
  const most = {
    name: 'memory-128',
    what: `memory at ${width} streams`,
    unit: 'MB',
    by: 'figure',
    budget: 200,
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

/** All groups of this file. */
export const STREAMED: readonly Group[] = [
  pipe,
  ...(['openharness', 'native'] as const).flatMap((front) => [1, 32, 128].map((width) => streamed(front, width))),
]
