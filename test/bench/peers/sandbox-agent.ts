/** https://github.com/rivet-dev/sandbox-agent: an HTTP server, in Rust, in front of processes that speak ACP. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpUpdates } from '../answers.ts'
import { EVENTS } from '../gateway.ts'
import { load } from '../load.ts'
import { benchFile } from '../processes.ts'
import { run, SHORT, type Shape, SSE } from '../turns.ts'
import { executable, freePort, fromNpm, serve } from './install.ts'
import type { Peer } from './peer.ts'

/** How many turns at once, each of a session of its own. */
const WIDTH = 32
const SESSIONS = 'peer'
const VERSION = '0.4.2'
const PACKAGE = '@sandbox-agent/cli-linux-x64'
const STREAM: Shape = { path: '/v1/turns/stream', kind: 'native', headers: SSE }

/** An HTTP server in front of processes, as this gateway is one. */
export const SANDBOX_AGENT: Peer = {
  name: 'sandbox-agent',
  version: VERSION,
  what: `HTTP to a warm process, ${WIDTH} at once`,
  limitedBy: 'it is a program in Rust that passes JSON on, and records nothing',
  budgets: { turn: 0.125, event: 0.333 },
  install: (bench) => executable(join(fromNpm(bench, `${PACKAGE}@${VERSION}`), PACKAGE, 'bin/sandbox-agent')),
  async start(bench, program, per) {
    const home = join(bench.workshop.folder, `sandbox-agent-${per}`)
    // The file that it starts for the agent which it calls `mock`.
    const agents = join(home, '.local/share/sandbox-agent/bin/agent_processes')
    mkdirSync(agents, { recursive: true })
    const answer = join(home, 'answer.jsonl')
    writeFileSync(answer, acpUpdates(per === 'turn' ? 1 : EVENTS))
    writeFileSync(join(agents, 'mock-acp'), `#!/bin/sh\nexec /bin/sh ${benchFile('agents/acp.sh')} ${answer}\n`)
    chmodSync(join(agents, 'mock-acp'), 0o755)
    const port = await freePort()
    const args = ['server', '--no-token', '--no-telemetry', '--port', String(port)]
    const server = await serve(bench, { port, path: '/v1/health' }, program, args, { HOME: home })
    for (let at = 0; at < WIDTH; at += 1) await open(`http://127.0.0.1:${port}/v1/acp/${SESSIONS}-${at}`)
    return server
  },
  load(bench, server) {
    const path = '/v1/acp/{session}'
    const job = { port: server.port, path, follow: path, kind: 'acp', mark: 'stopReason', text: 'go' } as const
    const length = bench.lengthFor(server, SESSIONS, WIDTH)
    return load(server.pid, { ...job, width: WIDTH, ...length, sessions: SESSIONS })
  },
  own: async (bench, per) => run(bench, await bench.gateway('main'), per === 'turn' ? SHORT : STREAM, WIDTH),
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
