import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp } from '../kit/clients.ts'
import { AGENTS, TURNPIKE } from '../kit/gateway.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const HELPER = `{ protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }`
const PATIENT = `{ protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }`

describe('SIGHUP to a serving gateway', () => {
  let folder: string
  let gateway: ReturnType<typeof spawn>
  let url: string
  let log = ''

  const configure = (agents: string, more = ''): void => {
    const text = `server: { port: 0, socket: false }\nagents: ${agents}\nlog: { level: info, pretty: false }\nstore: { path: ./t.db }\n${more}`
    writeFileSync(join(folder, 'turnpike.yaml'), text)
  }
  /** Waits for the log to say something new that holds the text. */
  const logged = async (text: string): Promise<void> => {
    while (!log.includes(text)) await new Promise((resolve) => gateway.stderr!.once('data', resolve))
    log = ''
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-reload-'))
    configure(`{ one: ${HELPER}, patient: ${PATIENT} }`)
    gateway = spawn(process.execPath, [TURNPIKE, 'serve', '--config', join(folder, 'turnpike.yaml')], {
      env: { ...process.env, NEW_KEY: 'sesame' },
    })
    gateway.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    const first = await new Promise<string>((resolve) => gateway.stdout!.once('data', (data) => resolve(String(data))))
    url = /http:\/\/[\d.:]+/.exec(first)![0]
  })
  afterAll(async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })

  test('takes new agents and drops old ones, while a turn on a dropped agent goes on', async () => {
    const running = new AbortController()
    const response = await fetch(`${url}/v1/zot/patient`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"id":"1","type":"prompt","message":"wait"}\n',
      signal: running.signal,
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let read = ''
    while (!read.includes('text_delta')) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`the answer ended early: ${read}`)
      read += value
    }
    configure(`{ two: ${HELPER} }`)
    gateway.kill('SIGHUP')
    await logged('the configuration was reloaded')
    expect(await askHttp(url, 'zene', { text: 'hi', session: 's', agent: 'two' })).toMatchObject({ ok: true })
    expect(await askHttp(url, 'zene', { text: 'hi', session: 's', agent: 'one' })).toMatchObject({ status: 404 })
    const rest = reader.read()
    const still = await Promise.race([rest.then(() => 'ended'), fetch(`${url}/healthz`).then(() => 'runs')])
    expect(still).toBe('runs')
    running.abort()
    await rest.catch(() => {})
  })

  test('says what the new agents need', async () => {
    configure(`{ two: ${HELPER}, gone: { protocol: zot, command: no-such-agent } }`)
    gateway.kill('SIGHUP')
    await logged('agent gone: no-such-agent cannot be started: it is not on the PATH')
  })

  test('keeps what it has when the file is wrong, and says why', async () => {
    configure('{ two: { protocol: nothing } }')
    gateway.kill('SIGHUP')
    await logged('the configuration was not reloaded')
    expect(await askHttp(url, 'zene', { text: 'hi', session: 's', agent: 'two' })).toMatchObject({ ok: true })
  })

  test('takes new keys, and warns of what needs a restart', async () => {
    const keys = 'server: { port: 1, socket: false, keys: [{ name: a, env: NEW_KEY }] }\n'
    configure(`{ two: ${HELPER} }`)
    const text = `${keys}agents: { two: ${HELPER} }\nlog: { level: info, pretty: false }\nstore: { path: ./t.db }\n`
    writeFileSync(join(folder, 'turnpike.yaml'), text)
    gateway.kill('SIGHUP')
    await logged('server.host and server.port has changed; restart the gateway to apply it')
    expect((await fetch(`${url}/v1/agents`)).status).toBe(401)
    const agents = await fetch(`${url}/v1/agents`, { headers: { authorization: 'Bearer sesame' } })
    expect(await agents.json()).toMatchObject({ agents: [{ name: 'two' }] })
  })
})

/** Whether a process has the file open. */
function holds(pid: number, file: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === file
    } catch {
      return false
    }
  })
}

test.skipIf(process.platform !== 'linux')('SIGHUP to a gateway that is still starting is kept for then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-early-reload-'))
  const store = join(folder, 't.db')
  writeFileSync(
    join(folder, 'turnpike.yaml'),
    `server: { port: 0, socket: false }\nagents: { one: ${HELPER} }\nlog: { level: info, pretty: false }\nstore: { path: ./t.db }\n`,
  )
  // It waits for the lock, and nothing else happens in it meanwhile.
  const lock = new DatabaseSync(store)
  lock.exec('BEGIN EXCLUSIVE')
  const args = [TURNPIKE, 'serve', '--config', join(folder, 'turnpike.yaml')]
  const gateway = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((resolve) => gateway.once('exit', (code, signal) => resolve([code, signal])))
  try {
    while (!holds(gateway.pid!, store)) await new Promise((resolve) => setImmediate(resolve))
    gateway.kill('SIGHUP')
    lock.exec('ROLLBACK')
    lock.close()
    let log = ''
    for await (const text of gateway.stderr.setEncoding('utf8')) {
      log += text
      if (log.includes('the configuration was reloaded')) break
    }
    expect(log).toMatch(/"msg":"serving"}\n.*"msg":"the configuration was reloaded"}\n$/)
    gateway.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  } finally {
    gateway.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})
