/** Lines of memory: measured once. */
import { connect } from 'node:net'
import { soak } from '../soak/soak.ts'
import { REQUESTS } from './answers.ts'
import type { Bench, Group } from './bench.ts'
import type { Gateway } from './gateway.ts'
import { grow, growing } from './growth.ts'
import { memoryMb, residentMb } from './processes.ts'
import { onceLine as info, type LineInfo } from './table.ts'

const pause = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms))

/** After this time V8 has given back the room that the start took, in milliseconds, in a full run. */
const SETTLED_MS = 20_000

/** The gateway that is idle since its start, and the time of that. */
function idleGateway(bench: Bench): Promise<{ gateway: Gateway; since: number }> {
  return bench.once('idle since', async () => ({ gateway: await growing(bench, 'idle'), since: performance.now() }))
}

const memory: Group = {
  name: 'memory',
  once: true,
  async prepare(bench) {
    await idleGateway(bench)
  },
  lines: [
    info({ name: 'memory-idle', what: 'memory of an idle gateway', unit: 'MB', budget: 90 }),
    info({ name: 'memory-sessions', what: 'memory of 1,000 idle sessions without a process', unit: 'MB', budget: 8 }),
  ],
  async round(bench) {
    const { gateway, since } = await idleGateway(bench)
    const { pid } = gateway
    await pause(Math.max(0, since + SETTLED_MS * bench.amounts.scale - performance.now()))
    const idle = residentMb(pid)
    const count = Math.max(8, Math.round(1000 * bench.amounts.scale))
    // What the first turns leave behind (compiled code, the heap as it settles) is no session.
    await grow(gateway, 'before', 4 * count, false)
    await pause(1000)
    const before = memoryMb(pid)
    await grow(gateway, 'grown', count)
    await pause(1000)
    const grown = Math.max((memoryMb(pid) - before) / (count / 1000), 0.001)
    return { 'memory-idle': { figure: idle, limit: 0 }, 'memory-sessions': { figure: grown, limit: 0 } }
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
      budget: 3,
      limitedBy:
        'the 3.9 MB that the system takes into the send buffer of the socket, once more as the text of the turn, and the ' +
        'garbage of writing it. Node.js cannot bound that buffer, the system can: with 512 KB in `net.ipv4.tcp_wmem` it ' +
        'is 1 to 2 MB. It was 27 MB',
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
    // A gateway that has had a few hundred turns is still being compiled, and its heap still grows into its room.
    const { before, after } = await soak(turns, turns)
    return {
      'soak-memory': { figure: after.rss / 1e6, limit: before.rss / 1e6 },
      'soak-files': { figure: after.files, limit: before.files },
      'soak-processes': { figure: after.children + 1, limit: before.children + 1 },
      'soak-resources': { figure: after.resources, limit: before.resources },
    }
  },
}

/** All groups of this file. */
export const MEMORY: readonly Group[] = [memory, slowReader, soaked]
