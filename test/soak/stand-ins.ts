/**
 * Many stand-ins that run alone on one store at once, beside busy loops: `node test/soak/stand-ins.ts [ROUNDS] [AT_ONCE]`
 * (20 rounds of 32 when absent). `--otlp` has each of them send its trace to a collector. Runs the bundle in `dist`. Prints
 * a line a round; exits with 1 when a request has no successful answer.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClientName, clientOf } from '../kit/clients.ts'
import { AGENTS, LAUNCHER } from '../kit/gateway.ts'

/** The clients whose requests have keys, and one that sends none. */
const FRONTS: readonly ClientName[] = ['zene', 'openharness', 'native', 'zot']
const BUSY_LOOPS = 2

const [rounds = 20, atOnce = 32] = process.argv
  .slice(2)
  .filter((arg) => /^\d+$/.test(arg))
  .map(Number)
const otlp = process.argv.includes('--otlp')

interface Ended {
  ok: boolean
  ms: number
  said: string
}

/** The request with an idempotency key, where its protocol has one. */
function keyed(front: ClientName, line: string, key: string): string {
  const fields = { zene: { idempotency_key: key }, native: { once: { key, duplicate: 'join', replay: 'success' } } }
  if (front !== 'zene' && front !== 'native') return line
  return `${JSON.stringify({ ...(JSON.parse(line) as object), ...fields[front] })}\n`
}

/** One turn of a client that starts its stand-in. */
function run(front: ClientName, id: string, config: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const client = clientOf(front)
  const asked = { text: `say ${id}`, session: id, id }
  const began = performance.now()
  const child = spawn(LAUNCHER, ['as', ...client.argv!, '--config', config], { env })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(keyed(front, client.write(asked), id))
  return new Promise((resolve) => {
    child.on('close', () => {
      const ms = performance.now() - began
      try {
        const { ok } = client.read(out, asked)
        resolve({ ok, ms, said: `${front}: ${out}${err}` })
      } catch {
        resolve({ ok: false, ms, said: `${front}: ${out}${err}` })
      }
    })
  })
}

const folder = mkdtempSync(join(tmpdir(), 'turnpike-stand-ins-'))
const config = join(folder, 'turnpike.yaml')
const collector = createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
}).listen(0, '127.0.0.1')
await new Promise((resolve) => collector.once('listening', resolve))
const { port } = collector.address() as AddressInfo
writeFileSync(
  config,
  `default: a
agents: { a: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] } }
store: { path: ./t.db }
${otlp ? `telemetry: { otlp: "http://127.0.0.1:${port}/v1/traces" }` : ''}
`,
)
const loops = Array.from({ length: BUSY_LOOPS }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
let lost = 0
for (let round = 1; round <= rounds; round += 1) {
  const env = { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder }
  const asked = Array.from({ length: atOnce }, (_, at) =>
    run(FRONTS[at % FRONTS.length]!, `r${round}-${at}`, config, env),
  )
  const ended = await Promise.all(asked)
  const bad = ended.filter(({ ok }) => !ok)
  lost += bad.length
  const slowest = Math.max(...ended.map(({ ms }) => ms))
  process.stdout.write(
    `round ${round}: ${ended.length - bad.length} of ${ended.length} answered, the slowest in ${slowest.toFixed(0)} ms\n`,
  )
  for (const { said } of bad.slice(0, 2)) process.stdout.write(`  ${said.slice(0, 500)}\n`)
}
for (const loop of loops) loop.kill('SIGKILL')
collector.close()
rmSync(folder, { recursive: true, force: true })
process.stdout.write(lost === 0 ? 'every request was answered\n' : `FAILED: ${lost} requests were not answered\n`)
process.exitCode = lost === 0 ? 0 : 1
