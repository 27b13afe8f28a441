/**
 * Lines against other gateways (`--peers`): installed from npm into a folder of the run, and asked by the same load, of
 * agents that cost the same. A peer is a row of `PEERS`: proxies between HTTP APIs of models have none, because there is
 * no front for such an API yet.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { acpUpdates } from './answers.ts'
import type { Bench, Group, Server } from './bench.ts'
import { EVENTS } from './gateway.ts'
import { type LoadJob, load } from './load.ts'
import { benchFile, Program } from './processes.ts'
import { cpuPerTurn, line, run, SHORT, type Shape, SSE } from './turns.ts'

/** How many turns at once. */
const WIDTH = 32
/** What a gateway is to cost at most, of what a peer costs. */
const BUDGETS = { turn: 1 / 8, event: 1 / 3 } as const
const SESSIONS = 'peer'

/** Another gateway. */
interface Peer {
  name: string
  version: string
  /** Why it may cost less. */
  limitedBy: string
  /** Starts it, ready for `WIDTH` sessions whose agents answer with so many events. */
  start(bench: Bench, events: number): Promise<Server>
  /** One turn of a session, and the path on which its events are streamed. */
  job: Pick<LoadJob, 'path' | 'kind' | 'follow' | 'mark'>
}

/** https://github.com/rivet-dev/sandbox-agent: an HTTP server, in Rust, in front of processes that speak ACP. */
const SANDBOX_AGENT: Peer = {
  name: 'sandbox-agent',
  version: '0.4.2',
  limitedBy: 'it is a program in Rust that passes JSON on, and records nothing',
  job: { path: '/v1/acp/{session}', follow: '/v1/acp/{session}', kind: 'acp', mark: 'stopReason' },
  async start(bench, events) {
    const program = install(
      bench,
      '@sandbox-agent/cli-linux-x64@0.4.2',
      '@sandbox-agent/cli-linux-x64/bin/sandbox-agent',
    )
    const home = join(bench.workshop.folder, `sandbox-agent-${events}`)
    // The file that it starts for the agent which it calls `mock`.
    const agents = join(home, '.local/share/sandbox-agent/bin/agent_processes')
    mkdirSync(agents, { recursive: true })
    const answer = join(home, 'answer.jsonl')
    writeFileSync(answer, acpUpdates(events))
    writeFileSync(join(agents, 'mock-acp'), `#!/bin/sh\nexec /bin/sh ${benchFile('agents/acp.sh')} ${answer}\n`)
    chmodSync(join(agents, 'mock-acp'), 0o755)
    const port = await freePort()
    const running = new Program(program, ['server', '--no-token', '--no-telemetry', '--port', String(port)], {
      HOME: home,
    })
    bench.onClose(() => running.stop())
    await until(`http://127.0.0.1:${port}/v1/health`)
    for (let at = 0; at < WIDTH; at += 1) await open(`http://127.0.0.1:${port}/v1/acp/${SESSIONS}-${at}`)
    return { port, pid: running.child.pid! }
  },
}

const PEERS: readonly Peer[] = [SANDBOX_AGENT]

/** Installs a package of a fixed version; the path of its program. */
function install(bench: Bench, spec: string, path: string): string {
  const folder = join(bench.workshop.folder, 'peers')
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', '--silent', spec])
  const file = join(folder, 'node_modules', path)
  chmodSync(file, 0o755)
  return file
}

/** Begins a session of ACP. */
async function open(url: string): Promise<void> {
  const initialize = { protocolVersion: 1, clientCapabilities: {} }
  await post(`${url}?agent=mock`, { id: 1, method: 'initialize', params: initialize })
  await post(url, { id: 2, method: 'session/new', params: { cwd: '/', mcpServers: [] } })
}

async function post(url: string, message: object): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`)
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Waits until a server answers. */
async function until(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${url} does not answer`)
}

/** A line against a peer: what a turn, or an event of one, costs here and there. */
function against(peer: Peer, per: 'turn' | 'event'): Group {
  const name = `${peer.name}-${per}`
  const events = per === 'turn' ? 1 : EVENTS
  const shape: Shape = per === 'turn' ? SHORT : { path: '/v1/turns/stream', kind: 'native', headers: SSE }
  const what = per === 'turn' ? 'whole turn' : `streamed turn of ${EVENTS} events`
  return {
    name,
    lines: [
      line({
        name,
        what: `${what}, HTTP to a warm process, ${WIDTH} at once: CPU per ${per}`,
        unit: 'µs',
        against: `${peer.name} ${peer.version}`,
        budget: Number(BUDGETS[per].toFixed(3)),
        bound: 'most',
        limitedBy: peer.limitedBy,
      }),
    ],
    async round(bench) {
      const server = await bench.once(name, () => peer.start(bench, events))
      const about = { port: server.port, width: WIDTH, ms: bench.msFor(WIDTH), text: 'go', sessions: SESSIONS }
      const limit = await load(server.pid, { ...peer.job, ...about })
      const figure = await run(bench, await bench.gateway('main'), shape, WIDTH)
      return { [name]: { figure: cpuPerTurn(figure) / events, limit: cpuPerTurn(limit) / events } }
    },
  }
}

/** All groups of this file. */
export const AGAINST_PEERS: readonly Group[] = PEERS.flatMap((peer) => [against(peer, 'turn'), against(peer, 'event')])
