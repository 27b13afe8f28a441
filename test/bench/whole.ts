/** Lines of whole turns, through warm processes and through an HTTP agent. */
import { setTimeout as pause } from 'node:timers/promises'
import { MARK } from './answers.ts'
import type { Bench, Group, Server } from './bench.ts'
import { load } from './load.ts'
import { median } from './statistics.ts'
import { BARE, cpuPerTurn, line, perSecond, run, runWhole, SHORT, type Shape, shortBridge } from './turns.ts'

/** What keeps a kind of line from its budget. */
const LIMITED = {
  tracing:
    'seven spans of each recorded turn, which live for a second and are then written; one request in ten is one ' +
    'of these',
  whole:
    'the record of a turn, one row and one commit (13 %), where the bridge has none; system calls, as in the bridge (13 %); ' +
    'two codecs and the laws of a turn, none of it more than 2 %. It was 0.07 to 0.10 before the record was gathered',
  idle: 'caches of the processor that others have filled meanwhile, which the bridge pays for too (`idle-bridge`)',
  http:
    'the same as of whole turns. The proxy passes bytes on; here both envelopes are read, kept and written anew. It was ' +
    '0.14 before the closing envelope was looked into once',
} as const

function whole(width: number): Group {
  const name = `whole-${width}`
  const what = `whole turn, Zene over HTTP to a warm zot process, ${width} at once`
  const of = { limitedBy: LIMITED.whole } as const
  return {
    name,
    lines: [
      line({ ...of, name, what: `${what}: turns/s`, unit: '/s', budget: 0.35, bound: 'least' }),
      line({ ...of, name: `${name}-cpu`, what: `${what}: CPU per turn`, unit: 'µs', budget: 3.5, bound: 'most' }),
    ],
    async round(bench) {
      const { figure, limit } = await runWhole(bench, width)
      return {
        [name]: { figure: perSecond(figure), limit: perSecond(limit) },
        [`${name}-cpu`]: { figure: cpuPerTurn(figure), limit: cpuPerTurn(limit) },
      }
    },
  }
}

/** How long a client does nothing before its last turn, in milliseconds, in a full run. */
const IDLE_MS = 5000
/** How much earlier the bridge begins: longer than its turns take, and shorter than its pause. */
const APART_MS = 1500
/** Turns before it, of which the warm one is the median. */
const WARM_TURNS = 500

/**
 * A turn after a pause against the turns before it. Client and server are the same processes in both: those of a load
 * that has just begun take several times as long for its first turns.
 */
async function rested(bench: Bench, { port, pid }: Server, shape: Shape): Promise<{ figure: number; limit: number }> {
  const { scale } = bench.amounts
  const turns = Math.max(5, Math.round(WARM_TURNS * scale)) + 1
  const job = { ...shape, port, width: 1, ms: 0, text: 'go', mark: MARK, sessions: 'idle' } as const
  // To rest warms nothing up.
  const restMs = bench.warming ? 0 : IDLE_MS * scale
  const { lasts } = await load(pid, { ...job, turns, restMs })
  return { figure: lasts.at(-1)!, limit: median(lasts.slice(turns >> 1, -1)) }
}

const idle: Group = {
  name: 'idle',
  lines: [
    line({
      name: 'idle-bridge',
      what: 'bridge, whole turn after five idle seconds against a warm one, one at a time: wall time',
      unit: 'ms',
      against: 'warm',
      budget: 0,
      bound: 'least',
    }),
    line({
      name: 'idle',
      what: 'whole turn after five idle seconds against a warm one, one at a time: wall time',
      unit: 'ms',
      against: 'warm',
      budget: 1.3,
      bound: 'most',
      limitedBy: LIMITED.idle,
    }),
  ],
  // The two pauses overlap; no turn of one is measured while the other has turns.
  async round(bench) {
    const bridge = rested(bench, await shortBridge(bench), BARE)
    await pause(APART_MS * bench.amounts.scale)
    const gateway = rested(bench, await bench.gateway('main'), SHORT)
    return { 'idle-bridge': await bridge, idle: await gateway }
  },
}

const proxied: Group = {
  name: 'http-32',
  lines: [
    line({
      name: 'http-32',
      what: 'HTTP to HTTP agent, OpenHarness both sides, 32 at once: turns/s',
      unit: '/s',
      against: 'proxy',
      budget: 0.35,
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

/** How many whole turns at once the lines of what can be on or off have. */
const SWITCHED = 8

/** Whole turns a second of one gateway against those of another, both of which serve nothing else. */
async function against(
  bench: Bench,
  on: Promise<Server>,
  off: Promise<Server>,
): Promise<{ figure: number; limit: number }> {
  const limit = await run(bench, await off, SHORT satisfies Shape, SWITCHED)
  const figure = await run(bench, await on, SHORT, SWITCHED)
  return { figure: perSecond(figure), limit: perSecond(limit) }
}

const journal: Group = {
  name: 'journal',
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
    const yaml = 'routes: [{ when: {}, agent: short, journal: shape }]\n'
    const off = bench.gateway('forgetful', { store: ':memory:', yaml })
    return { journal: await against(bench, bench.gateway('plain'), off) }
  },
}

const tracing: Group = {
  name: 'tracing',
  lines: [
    line({
      name: 'tracing',
      what: 'tracing on (10 % sampled) against off, 8 at once: turns/s',
      unit: '/s',
      against: 'off',
      budget: 0.85,
      bound: 'least',
      limitedBy: LIMITED.tracing,
    }),
  ],
  async round(bench) {
    const { port } = await bench.server('sink', 'limits/sink.ts')
    const yaml = `telemetry: { otlp: "http://127.0.0.1:${port}", sample: 0.1 }\n`
    return { tracing: await against(bench, bench.gateway('traced', { yaml }), bench.gateway('plain')) }
  },
}

/** All groups of this file. */
export const WHOLE: readonly Group[] = [...[1, 32, 128].map(whole), idle, proxied, journal, tracing]
