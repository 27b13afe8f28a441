import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, failureOf, type Ran, type StdioClientName, speak, stdioClientNames } from '../kit/clients.ts'
import { TURNPIKE } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')
/** The argument by which this file's agents are told from those of others. */
const MARK = '1001'

/** A stand-in under way: its input is open, its end is told once. */
interface Running {
  child: ChildProcessWithoutNullStreams
  ended: Promise<Ran>
}

describe('a stand-in that is told to stop', () => {
  let folder: string
  let config: string
  let gateway: ReturnType<typeof spawn>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-signals-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(
      config,
      `server: { port: 0 }
default: silent
limits: { grace: 300ms }
agents: { silent: { protocol: agentproc, command: ${AGENTS}/silent.sh, args: ["${MARK}"] } }
store: { kind: sqlite, path: ./turnpike.db }
`,
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function start(front: StdioClientName): Running {
    const client = clientOf(front)
    const [protocol, ...own] = client.argv!
    const asked = { text: 'hi', session: client.answer ? '' : 's', id: 'r1' }
    const env = { ...process.env, ...client.env?.(asked) }
    const child = spawn(process.execPath, [TURNPIKE, 'as', protocol!, '--config', config, ...own], { env })
    const ran: Ran = { stdout: '', stderr: '', code: null }
    child.stdout.on('data', (bytes: Buffer) => {
      ran.stdout += String(bytes)
    })
    child.stderr.on('data', (bytes: Buffer) => {
      ran.stderr += String(bytes)
    })
    if (client.answer) speak(child, client, asked)
    if (front === 'openharness') child.stdin.end(client.write(asked))
    else child.stdin.write(client.env ? '' : client.write(asked))
    return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ ...ran, code }))) }
  }

  async function stops(front: StdioClientName, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<void> {
    const running = start(front)
    await until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 1)
    running.child.kill(signal)
    const ran = await running.ended
    const client = clientOf(front)
    const code = client.terminated ?? 143
    expect(ran.code).toBe(signal === 'SIGINT' && code === 143 ? 130 : code)
    expect(client.failure(ran.stdout)).toBe(client.cancels ? undefined : await failureOf(front, 'cancelled'))
    expect(client.isEnd(ran.stdout.trim().split('\n').at(-1)!, true)).toBe(true)
    await until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 0)
  }

  test.each(stdioClientNames)('alone: %s ends its turn honestly and leaves nothing behind', (front) => stops(front))
  test.each(stdioClientNames)('alone: %s does the same when it is interrupted', (front) => stops(front, 'SIGINT'))

  describe('with a running gateway', () => {
    beforeAll(async () => {
      gateway = spawn(process.execPath, [TURNPIKE, 'serve', '--config', config], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((resolve) => gateway.stdout!.once('data', resolve))
    })
    afterAll(async () => {
      const ended = new Promise((resolve) => gateway.once('exit', resolve))
      gateway.kill('SIGTERM')
      await ended
    })

    test.each(stdioClientNames)('%s does the same', (front) => stops(front))
    test('so it does when it is interrupted', () => stops('agentproc', 'SIGINT'))

    test('a stand-in that is killed takes its turn with it', async () => {
      const running = start('zene')
      await until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 1)
      running.child.kill('SIGKILL')
      await running.ended
      await until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 0)
    })
  })
})

describe('a gateway that is told to stop', () => {
  /** One-shot clients and one that streams: each of them gets the end of its turn. */
  const CLIENTS = [
    'application/json',
    'text/event-stream',
    'application/json',
    'application/x-ndjson',
    'application/json',
  ]

  test.each([
    ['SIGINT', 1],
    ['SIGTERM', 2],
  ] as const)('by %s (%d times) tells every client the end of its turn', async (signal, times) => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-stop-'))
    const config = join(folder, 'turnpike.yaml')
    writeFileSync(
      config,
      `server: { port: 0, socket: false }
limits: { grace: 300ms }
agents: { silent: { protocol: agentproc, command: ${AGENTS}/silent.sh, args: ["1002"] } }
log: { pretty: false }
store: { path: ./t.db }
`,
    )
    const serving = spawn(process.execPath, [TURNPIKE, 'serve', '--config', config])
    let log = ''
    serving.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    const first = await new Promise<string>((resolve) => serving.stdout.once('data', (data) => resolve(String(data))))
    const url = /http:\/\/[\d.:]+/.exec(first)![0]
    const answers = CLIENTS.map(async (accept) => {
      const headers = { 'content-type': 'application/json', accept }
      const response = await fetch(`${url}/v1/turns/silent`, { method: 'POST', headers, body: '{"input":"hi"}' })
      return (await response.text()).includes('"outcome":"cancelled"')
    })
    await until(() => pidsOf('silent.sh\u00001002').length === CLIENTS.length)
    const ended = new Promise((resolve) => serving.once('exit', resolve))
    serving.kill(signal)
    if (times > 1) {
      await until(() => log.includes('"stopping"'))
      serving.kill(signal)
    }
    expect(await Promise.all(answers)).toEqual(CLIENTS.map(() => true))
    expect(await ended).toBe(0)
    rmSync(folder, { recursive: true, force: true })
  })
})
