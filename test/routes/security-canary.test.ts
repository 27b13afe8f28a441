import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, clientNames, httpRequest } from '../kit/clients.ts'
import { ROOT, TURNPIKE } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const AGENT = join(ROOT, 'test/kit/agents/tells-all.mjs')

/** A secret of every place that has one; each is told from all others wherever it turns up. */
const CANARIES = {
  keyOfVariable: 'canary-key-variable-5111',
  keyOfHash: 'canary-key-hashed-5112',
  wrongKey: 'canary-key-wrong-5113',
  variable: 'canary-variable-5114',
  named: 'canary-literal-token-5115',
  unnamed: 'canary-literal-plain-5116',
  argument: 'canary-argument-5117',
  header: 'canary-header-5118',
  password: 'canary-password-5119',
  query: 'canary-query-5120',
  collector: 'canary-collector-5121',
  withheld: 'canary-withheld-5122',
} as const

/** The forms that a text takes on its way. */
const formsOf = (secret: string): string[] => [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')]

/** The canaries that a text holds, by name. */
const found = (text: string): string[] =>
  Object.entries(CANARIES)
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([name]) => name)

/** All processes below one, with its own. */
function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

/** A server that keeps what it is sent and answers with what `answer` says. */
async function listener(seen: string[], answer: (head: string) => [number, string]): Promise<[Server, string]> {
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray())
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    const head = `${request.url} ${JSON.stringify(request.headers)}`
    seen.push(`${head}\n${body}`)
    const [status, text] = answer(head)
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return [server, `127.0.0.1:${(server.address() as AddressInfo).port}`]
}

describe('secrets', () => {
  const exported: string[] = []
  const asked: string[] = []
  const answers: string[] = []
  const commandLines = new Map<string, string>()
  let folder: string
  let gateway: ChildProcess
  let servers: Server[]
  let url: string
  let said = ''
  let logged = ''

  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(url + path, init)
    const text = await response.clone().text()
    answers.push(`${path} ${response.status} ${JSON.stringify([...response.headers])} ${text}`)
    return response
  }
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })
  const lookAtProcesses = (): void => {
    for (const pid of family(gateway.pid!)) {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        // The arguments that the file gives an agent are its own.
        if (!line.includes('tells-all')) commandLines.set(line, line)
      } catch {
        // It ended while we looked.
      }
    }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-canary-'))
    const [collector, collectorAddress] = await listener(exported, () => [200, '{}'])
    const [engine, engineAddress] = await listener(asked, (head) => [500, JSON.stringify({ error: { message: head } })])
    servers = [collector, engine]
    const hash = createHash('sha256').update(CANARIES.keyOfHash).digest('hex')
    const env = `{ API_TOKEN: ${CANARIES.named}, PLAIN: ${CANARIES.unnamed}, FROM: "\${CANARY_VARIABLE}" }`
    const agent = (protocol: string): string =>
      `command: ${process.execPath}, args: [${AGENT}, ${protocol}, ${folder}/${protocol}.env, --api-key, ${CANARIES.argument}], env: ${env}`
    writeFileSync(
      join(folder, 'turnpike.yaml'),
      `server:
  port: 0
  socket: ${folder}/run/turnpike.sock
  keys: [{ name: a, env: CANARY_KEY }, { name: b, hash: ${hash} }]
default: script
agents:
  script: { protocol: agentproc, ${agent('agentproc')} }
  zot: { protocol: zot, ${agent('zot')} }
  qwen: { protocol: qwen-code, ${agent('qwen')} }
  engine:
    protocol: openharness
    url: "http://user:${CANARIES.password}@${engineAddress}/v1?key=${CANARIES.query}"
    headers: { Authorization: "Bearer ${CANARIES.header}", X-Custom: "${CANARIES.header}" }
telemetry: { protocol: http/json, otlp: "http://${collectorAddress}", headers: { Authorization: "Bearer ${CANARIES.collector}" } }
log: { level: debug, pretty: false }
store: { path: ./data/turnpike.db }
`,
    )
    // Without a mask, so that only what the gateway itself does keeps others out of its files.
    gateway = spawn('/bin/sh', ['-c', 'umask 000; exec "$0" "$@"', process.execPath, TURNPIKE, 'serve'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        TZ: 'UTC',
        CANARY_KEY: CANARIES.keyOfVariable,
        CANARY_VARIABLE: CANARIES.variable,
        CANARY_WITHHELD: CANARIES.withheld,
      },
    })
    gateway.stderr!.setEncoding('utf8').on('data', (text: string) => {
      logged += text
    })
    gateway.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    await until(() => said.includes('http://'))
    url = /http:\/\/[\d.:]+/.exec(said)![0]
    await useAll()
  })
  afterAll(async () => {
    if (gateway.exitCode === null) gateway.kill('SIGKILL')
    for (const server of servers) server.close().closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Turns of every front on every agent, everything that can be read, a reload with a mistake, and the end. */
  async function useAll(): Promise<void> {
    for (const [at, front] of clientNames.entries()) {
      for (const agent of ['script', 'zot', 'qwen', 'engine']) {
        const key = at % 2 === 0 ? CANARIES.keyOfVariable : CANARIES.keyOfHash
        const own = `${front}-${agent}`
        const { path, ...init } = httpRequest(front, { text: 'hi', session: own, id: own, agent })
        const headers = { ...init.headers, 'x-api-key': key, cookie: `session=${key}` }
        await call(path, { ...init, headers })
        lookAtProcesses()
      }
      await call(CLIENTS[front].path, { method: 'POST', headers: bearer(CANARIES.wrongKey), body: '{}' })
    }
    const known = { headers: bearer(CANARIES.keyOfVariable) }
    const { turns } = (await (await call('/v1/turns', known)).json()) as { turns: { turn: string }[] }
    const { sessions } = (await (await call('/v1/sessions', known)).json()) as { sessions: { id: string }[] }
    // Five fronts have this key; for the last two the circuits of two failing agents are open.
    expect([turns.length, sessions.length]).toEqual([16, 20])
    for (const { turn } of turns) for (const more of ['', '/events']) await call(`/v1/turns/${turn}${more}`, known)
    for (const { id } of sessions) await call(`/v1/sessions/${id}`, known)
    for (const path of ['/', '/healthz', '/readyz', '/v1/agents', '/v1/matrix', '/metrics', '/nowhere']) {
      await call(path, known)
      await call(path, { headers: bearer(CANARIES.wrongKey) })
    }
    writeFileSync(join(folder, 'turnpike.yaml'), `agents: { script: { protocol: zot, token: ${CANARIES.named} } }\n`)
    gateway.kill('SIGHUP')
    await until(() => logged.includes('was not reloaded'))
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    // The files are looked at while it runs: with the last connection SQLite takes its log away.
    files = Object.fromEntries(walk(folder).map((path) => [path.slice(folder.length + 1), statSync(path).mode & 0o777]))
    kept = walk(join(folder, 'data')).map((path) => readFileSync(path, 'latin1'))
    gateway.kill('SIGTERM')
    await ended
    kept.push(...walk(join(folder, 'data')).map((path) => readFileSync(path, 'latin1')))
  }
  let files: Record<string, number> = {}
  let kept: string[] = []

  test('reach whom they are for', () => {
    expect(found(asked.join('\n'))).toEqual(['header', 'query'])
    expect(found(exported.map((text) => text.split('\n', 1)[0]!).join('\n'))).toEqual(['collector'])
  })

  test.each<[string, () => string]>([
    ['the log', () => logged],
    ['what it says on its standard output', () => said],
    ['the answers of every endpoint', () => answers.join('\n')],
    ['the store', () => kept.join('\n')],
    ['what a collector gets', () => exported.map((text) => text.slice(text.indexOf('\n'))).join('\n')],
    ['the arguments of its processes', () => [...commandLines.keys()].join('\n')],
  ])('are not in %s', (_name, text) => {
    expect(text()).not.toBe('')
    expect(found(text())).toEqual([])
  })

  test('have left what the agents said without them', () => {
    expect(logged).toContain('PLAIN=***')
    expect(logged).toContain('"stderr"')
    expect(exported.some((text) => text.includes('resourceSpans'))).toBe(true)
    expect(exported.some((text) => text.includes('resourceMetrics'))).toBe(true)
  })

  test('of the gateway are not in the environment of its agents, which have these variables and no others', () => {
    const names = (protocol: string): unknown => JSON.parse(readFileSync(join(folder, `${protocol}.env`), 'utf8'))
    const own = ['API_TOKEN', 'FROM', 'HOME', 'PATH', 'PLAIN', 'TRACEPARENT', 'TURNPIKE_COOKIE', 'TZ']
    const turn = [
      'AGENT_FROM_USER',
      'AGENT_MESSAGE',
      'AGENT_PROTOCOL_VERSION',
      'AGENT_SESSION_ID',
      'AGENT_SESSION_NAME',
      'AGENT_STREAMING',
    ]
    expect(names('agentproc')).toEqual([...own, ...turn].sort())
    expect(names('zot')).toEqual([...own, 'ZOTCORE_RPC_TOKEN'])
    expect(names('qwen')).toEqual([...own, 'QWEN_CODE_NO_RELAUNCH'].sort())
  })

  test('are in files that only their owner reads, whatever the mask', () => {
    const own = Object.entries(files).filter(([path]) => /^(data|run)\b/.test(path))
    expect(Object.fromEntries(own)).toEqual({
      data: 0o700,
      'data/turnpike.db': 0o600,
      'data/turnpike.db-shm': 0o600,
      'data/turnpike.db-wal': 0o600,
      run: 0o700,
      'run/turnpike.sock': 0o600,
    })
  })
})

/** Everything below a folder, folders too. */
function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...walk(path)] : [path]
  })
}
