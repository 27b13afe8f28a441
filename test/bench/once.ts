/** Lines of memory and growth: measured once. */
import { connect } from 'node:net'
import { frameDecoder } from '../../src/framing/index.ts'
import { soak } from '../soak/soak.ts'
import { REQUESTS } from './answers.ts'
import type { Bench, Group } from './bench.ts'
import { type LoadJob, load } from './load.ts'
import { memoryMb, residentMb } from './processes.ts'
import { median } from './statistics.ts'
import type { LineInfo } from './table.ts'

const pause = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms))

function info(of: Pick<LineInfo, 'name' | 'what' | 'unit' | 'budget'> & Partial<LineInfo>): LineInfo {
  return { against: '', by: 'figure', bound: 'most', ...of }
}

/** Grows a gateway by so many sessions without a process; how long a turn took of the processor, in microseconds. */
async function grow(bench: Bench, name: string, sessions: string, turns: number): Promise<number> {
  const upstream = await bench.server('upstream', 'limits/upstream.ts')
  const { port, pid } = await bench.gateway(name, { upstream: upstream.port })
  const job: LoadJob = {
    port,
    path: '/v1/openharness/engine',
    kind: 'envelope',
    text: 'tick',
    mark: 'tick',
    width: 8,
    ms: 0,
    turns,
    sessions,
    freshSessions: true,
  }
  const { cpu } = await load(pid, job)
  return cpu / turns
}

const memory: Group = {
  name: 'memory',
  once: true,
  lines: [
    info({ name: 'memory-idle', what: 'memory of an idle gateway', unit: 'MB', budget: 90 }),
    info({ name: 'memory-sessions', what: 'memory of 1,000 idle sessions without a process', unit: 'MB', budget: 8 }),
  ],
  async round(bench) {
    const { pid } = await bench.gateway('idle', {
      upstream: (await bench.server('upstream', 'limits/upstream.ts')).port,
    })
    await pause(500)
    const idle = residentMb(pid)
    const count = Math.max(8, Math.round(2000 * bench.amounts.scale))
    // What the first turns leave behind (compiled code, the heap as it settles) is no session.
    await grow(bench, 'idle', 'before', 2 * count)
    await pause(1000)
    const before = memoryMb(pid)
    await grow(bench, 'idle', 'grown', count)
    await pause(1000)
    const grown = Math.max((memoryMb(pid) - before) / (count / 1000), 0.001)
    return { 'memory-idle': { figure: idle, limit: 0 }, 'memory-sessions': { figure: grown, limit: 0 } }
  },
}

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

const sessions: Group = {
  name: 'growth-sessions',
  once: true,
  lines: [
    info({
      name: 'growth-sessions',
      what: 'turn with 10,000 sessions known against one with 1,000: CPU',
      unit: 'µs',
      against: '1,000 sessions',
      by: 'ratio',
      budget: 1.3,
    }),
  ],
  async round(bench) {
    const thousand = Math.max(8, Math.round(1000 * bench.amounts.scale))
    await grow(bench, 'crowd', 'first', thousand)
    const few = await grow(bench, 'crowd', 'few', thousand)
    await grow(bench, 'crowd', 'many', 7 * thousand)
    return { 'growth-sessions': { figure: await grow(bench, 'crowd', 'last', thousand), limit: few } }
  },
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

/** A client that asks for so many KiB and reads nothing. */
async function stalled(port: number, kib: number, session: string): Promise<() => void> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.pause()
  const body = REQUESTS.openharness(session, String(kib), session)
  const head = 'accept: text/event-stream\r\nhost: localhost\r\ncontent-type: application/json\r\n'
  socket.write(`POST /v1/openharness/flood HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`)
  await pause(1500)
  return () => socket.destroy()
}

const slowReader: Group = {
  name: 'slow-reader',
  once: true,
  lines: [
    info({
      name: 'slow-reader',
      what: 'gateway memory that 25 MB for a client that does not read take',
      unit: 'MB',
      budget: 2,
      limitedBy:
        'the 3.9 MB that the system takes into the send buffer of the socket, once more as the text of the turn; Node.js ' +
        'cannot bound that buffer. It was 27 MB',
    }),
  ],
  async round(bench) {
    const { port, pid } = await bench.gateway('slow')
    const kib = Math.max(256, Math.round(25 * 1024 * bench.amounts.scale))
    const ends = [
      await stalled(port, kib, 'warm-1'),
      await stalled(port, kib, 'warm-2'),
      await stalled(port, kib, 'warm-3'),
    ]
    const before = memoryMb(pid)
    ends.push(await stalled(port, kib, 'slow-1'))
    const figure = memoryMb(pid) - before
    for (const end of ends) end()
    return { 'slow-reader': { figure: Math.max(figure, 0.001), limit: 0 } }
  },
}

const held = (name: string, what: string, unit: string, budget: number): LineInfo =>
  info({
    name: `soak-${name}`,
    what: `${what} after 2,000 turns of many kinds`,
    unit,
    against: 'before',
    by: 'ratio',
    budget,
  })

/** Some of the turns are cancelled or left by their clients. */
const soaked: Group = {
  name: 'soak',
  once: true,
  lines: [
    held('memory', 'memory', 'MB', 1.35),
    held('files', 'open descriptors', 'descriptors', 1.1),
    held('processes', 'processes, agents included', 'processes', 1),
    held('resources', 'timers and sockets that are waited for', 'resources', 1.2),
  ],
  async round(bench) {
    const turns = Math.max(20, Math.round(2000 * bench.amounts.scale))
    const { before, after } = await soak(turns, Math.max(20, turns / 5))
    return {
      'soak-memory': { figure: after.rss / 1e6, limit: before.rss / 1e6 },
      'soak-files': { figure: after.files, limit: before.files },
      'soak-processes': { figure: after.children + 1, limit: before.children + 1 },
      'soak-resources': { figure: after.resources, limit: before.resources },
    }
  },
}

/** All groups of this file. */
export const ONCE: readonly Group[] = [longLine, memory, answers, sessions, slowReader, soaked]
