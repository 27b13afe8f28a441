/** Lines of growth: what a turn, a line or an answer costs where there is much of something. Most are measured once. */
import { readCommand } from '../../codecs/native/read.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import { MARK } from './answers.ts'
import type { Bench, Group, Server } from './bench.ts'
import type { Gateway } from './gateway.ts'
import { type LoadJob, load } from './load.ts'
import { report } from './processes.ts'
import { median } from './statistics.ts'
import { onceLine as info } from './table.ts'

/** A gateway with an agent that is an HTTP server, so that its sessions have no process. */
export async function growing(bench: Bench, name: string, store?: string): Promise<Gateway> {
  const { port } = await bench.server('upstream', 'limits/upstream.ts')
  return bench.gateway(name, { upstream: port, ...(store !== undefined && { store }) })
}

/**
 * Grows a gateway by so many sessions without a process, or gives eight sessions so many turns; the processor time of a
 * turn, in microseconds.
 */
export async function grow(
  { port, pid }: Server,
  sessions: string,
  turns: number,
  freshSessions = true,
): Promise<number> {
  const job = {
    port,
    path: '/v1/openharness/engine',
    kind: 'envelope',
    text: MARK,
    mark: MARK,
    width: 8,
    ms: 0,
  } as const
  const { cpu } = await load(pid, { ...job, turns, sessions, freshSessions } satisfies LoadJob)
  return cpu / turns
}

/** A share of what a full run does. */
const scaled = (bench: Bench, count: number): number => Math.max(10, Math.round(count * bench.amounts.scale))

/** Seconds for one streamed answer of so many KiB. */
async function answer(bench: Bench, kib: number): Promise<number> {
  const { port, pid } = await bench.gateway('main')
  const job = { port, path: '/v1/openharness/flood', kind: 'openharness', width: 1, ms: 0, turns: 1 } as const
  const headers = { accept: 'text/event-stream' }
  const asked = { ...job, headers, text: String(kib), mark: 'xxxx', sessions: `growth-${kib}` }
  return (await load(pid, asked)).seconds
}

const answers: Group = {
  name: 'growth-answer',
  once: true,
  lines: [
    info({
      name: 'growth-answer',
      what: 'answer of 100 MB against one of 10 MB: time per MB',
      unit: 'ms',
      against: '10 MB',
      by: 'ratio',
      budget: 1.3,
    }),
  ],
  async round(bench) {
    const unit = Math.max(64, Math.round(1024 * bench.amounts.scale))
    const small: number[] = []
    for (let n = 0; n < 3; n += 1) small.push((await answer(bench, 10 * unit)) / 10)
    const large = (await answer(bench, 100 * unit)) / 100
    return { 'growth-answer': { figure: large * 1000, limit: median(small) * 1000 } }
  },
}

const LIVE_SESSIONS = 10_000
const RECORDED = 1_000_000
/** Turns of one reading of a gateway's clock, and how often it is read. */
const TURNS = 700
const WINDOWS = 5

const turns: Group = {
  name: 'growth-turns',
  once: true,
  async prepare(bench) {
    await recorded(bench)
  },
  lines: [
    info({
      name: 'growth-sessions',
      what: 'turn with 10,000 sessions used before it against one with few: CPU',
      unit: 'µs',
      against: 'few sessions',
      by: 'ratio',
      budget: 1.2,
    }),
    info({
      name: 'growth-store',
      what: 'turn with 1,000,000 recorded turns in the store against an empty one: CPU',
      unit: 'µs',
      against: 'empty store',
      by: 'ratio',
      budget: 1.2,
    }),
  ],
  async round(bench) {
    const store = await recorded(bench)
    const gateways = [await growing(bench, 'few'), await growing(bench, 'many'), await growing(bench, 'full', store)]
    // All have had the same number of turns, so that none is warmer than the others.
    for (const [at, gateway] of gateways.entries()) {
      await grow(gateway, 'before', scaled(bench, LIVE_SESSIONS), at === 1)
    }
    const cpu: number[][] = gateways.map(() => [])
    for (let round = 0; round < WINDOWS; round += 1) {
      for (const [at, gateway] of gateways.entries())
        cpu[at]!.push(await grow(gateway, `now-${round}`, scaled(bench, TURNS)))
    }
    const [few, many, full] = cpu.map((each) => median(each))
    return {
      'growth-sessions': { figure: many!, limit: few! },
      'growth-store': { figure: full!, limit: few! },
    }
  },
}

/** The file of a store that has so many turns: those of another one, copied. */
function recorded(bench: Bench): Promise<string> {
  return bench.once('recorded', async () => {
    const seed = await bench.workshop.gateway()
    const job = { port: seed.port, kind: 'zene', ms: 0, text: 'go', mark: MARK } as const
    const short = { ...job, path: '/v1/zene/short', width: 10, turns: 188, sessions: 'seed-short' } as const
    const long = { ...job, path: '/v1/zene/stream', width: 1, turns: 1, sessions: 'seed-long' } as const
    for (const each of [short, long]) await load(seed.pid, each)
    await seed.stop()
    await report('programs/fill.ts', [seed.store, String(scaled(bench, RECORDED))])
    return seed.store
  })
}

/** Nanoseconds for each character of a line that comes in pieces of 1 KiB. */
function perCharacter(pieces: number, repeat: number): number {
  const piece = 'x'.repeat(1024)
  const begin = performance.now()
  let read = 0
  for (let n = 0; n < repeat; n += 1) {
    const decoder = frameDecoder('ndjson', 32 * 1024 * 1024, {
      frame: (frame) => {
        read += String(frame).charCodeAt(7)
      },
      fault() {},
    })
    for (let at = 0; at < pieces; at += 1) decoder.push(piece)
    decoder.push('\n')
  }
  if (read === 0) throw new Error('no line was read')
  return ((performance.now() - begin) * 1e6) / (pieces * 1024 * repeat)
}

const longLine: Group = {
  name: 'growth-line',
  lines: [
    info({
      name: 'growth-line',
      what: 'one line of 16 MiB in pieces of 1 KiB against one of 1 MiB: time per character',
      unit: 'ns',
      against: '1 MiB',
      by: 'ratio',
      budget: 1.3,
    }),
  ],
  async round() {
    perCharacter(1024, 16)
    return { 'growth-line': { figure: perCharacter(16 * 1024, 2), limit: perCharacter(1024, 32) } }
  },
}

/** Nanoseconds for each member of a request of the native API that has so many unknown ones. */
function perMember(count: number, repeat: number): number {
  const unknown = Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, at]))
  const value = { type: 'turn-start', input: 'go', ...unknown }
  const json = JSON.stringify(value)
  const begin = performance.now()
  for (let n = 0; n < repeat; n += 1) if ('wrong' in readCommand(json, value)) throw new Error('no command was read')
  return ((performance.now() - begin) * 1e6) / (count * repeat)
}

const members: Group = {
  name: 'growth-members',
  lines: [
    info({
      name: 'growth-members',
      what: 'native request with 100,000 unknown members against one with 10,000: time per member',
      unit: 'ns',
      against: '10,000',
      by: 'ratio',
      budget: 2,
    }),
  ],
  async round() {
    perMember(10_000, 4)
    return { 'growth-members': { figure: perMember(100_000, 1), limit: perMember(10_000, 10) } }
  },
}

/** All groups of this file. */
export const GROWTH: readonly Group[] = [longLine, members, answers, turns]
