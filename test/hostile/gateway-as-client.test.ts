import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BAD_ANSWERS } from '../../src/conformance/bad-answers.ts'
import { type HostileRule, hostileClientRules, testedProtocols } from '../../src/conformance/index.ts'
import type { Behaviour } from '../../src/conformance/kit/index.ts'
import { suiteOf } from '../kit/conformance.ts'
import { ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'
import { type HostileClient, hostileClient } from '../kit/hostile.ts'
import { BACKS } from './kit.ts'

/**
 * The hostile kit that users have, on our own gateway: it is the client of every protocol. Each behaviour is tried on one of
 * the protocols that are programs, turn about, and a third on those that are servers; `EVERY=1` tries all on all.
 */
const EVERY = process.env['EVERY'] === '1'
/** The servers, with their path behind the address of the stand-in. */
const SERVERS: Readonly<Record<string, string>> = {
  openharness: '/',
  openai: '/v1',
  'openai@responses': '/v1',
  anthropic: '',
}
const isServer = (back: string): boolean => Object.hasOwn(SERVERS, back)
const SUITES = [
  ...Object.keys(BACKS)
    .filter((back) => testedProtocols.includes(back.replace(/-stream$|@.*/, '')))
    .map((back) => [back, back === 'zene-stream' ? 'zene@stream' : back] as const),
  ...Object.keys(SERVERS).map((back) => [back, back] as const),
]
const PROGRAMS = SUITES.length - Object.keys(SERVERS).length
const table = await Promise.all(
  SUITES.map(async ([back, suite], at) => {
    const rules = hostileClientRules(await suiteOf(suite))
    const some = rules.filter((_rule, row) => EVERY || (isServer(back) ? row % 3 === 0 : row % PROGRAMS === at))
    return [back, suite, some] as const
  }),
)
/** A server has no exit code and no stderr. */
const isOfProcesses = (back: string, name: string): boolean =>
  isServer(back) && BAD_ANSWERS[name as Behaviour]!.only === 'stdio'
const nameOf = (back: string): string => back.replace('@', '-')

/** Passes each connection on to the server at the URL of that moment: every run has a server of its own. */
async function startRelay(url: () => string): Promise<Server> {
  const relay = createServer((socket) => {
    const server = connect(Number(new URL(url()).port), '127.0.0.1')
    socket.pipe(server).pipe(socket)
    socket.on('error', () => server.destroy())
    server.on('error', () => socket.destroy())
    server.on('close', (hadError) => (hadError ? socket.resetAndDestroy() : socket.end()))
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  return relay
}

describe('our gateway, as the client of an agent that misbehaves', { timeout: 300_000 }, () => {
  let gateway: TestGateway
  let folder: string
  const relays: Server[] = []
  const seen = new Map<string, Promise<Record<string, string>>>()
  /** All behaviours of one protocol, one after the other, while other protocols have theirs. */
  async function outcomes(back: string, suite: string, rules: readonly HostileRule[]): Promise<Record<string, string>> {
    const script = join(ROOT, 'test/kit/gateway-client.mjs')
    const client: HostileClient = await hostileClient(suite, (naive) => [
      process.execPath,
      ...[script, gateway.url, nameOf(back), isServer(back) ? 'server' : 'program', folder, naive],
    ])
    const found: Record<string, string> = {}
    for (const { name } of rules) found[name] = await client.outcome(name)
    return found
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-as-client-'))
    const servers = await Promise.all(
      Object.entries(SERVERS).map(async ([back, path]) => {
        const relay = await startRelay(() => readFileSync(join(folder, nameOf(back)), 'utf8'))
        relays.push(relay)
        const { port } = relay.address() as { port: number }
        return `  ${nameOf(back)}: { protocol: ${back}, url: "http://127.0.0.1:${port}${path}", breaker: { failures: 1000 } }`
      }),
    )
    const lines = Object.entries(BACKS).map(([back, protocol]) => {
      const mode = back === 'zene-stream' ? 'host --single-request false' : ''
      const script = `exec "$(cat ${join(folder, nameOf(back))})" ${mode}`
      const command = `command: /bin/sh, args: [-c, ${JSON.stringify(script)}]`
      return `  ${nameOf(back)}: { ${protocol.replace(', permission: true', '')}, ${command}, pool: { max: 100, idle: 50ms }, breaker: { failures: 1000 } }`
    })
    gateway = await startGateway(`
default: zot
limits: { start: 20s, firstEvent: 20s, idle: 20s, total: 60s, grace: 200ms }
agents:
${[...lines, ...servers].join('\n')}`)
    for (const [back, suite, rules] of table) seen.set(back, outcomes(back, suite, rules))
    for (const one of seen.values()) one.catch(() => {})
  })
  afterAll(async () => {
    await gateway.close()
    for (const relay of relays) relay.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each(table)('%s (%s)', async (back, _suite, rules) => {
    const found = Object.entries(await seen.get(back)!).filter(([name]) => !isOfProcesses(back, name))
    const tried = rules.filter(({ name }) => !isOfProcesses(back, name))
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(tried.map(({ name }) => [name, 'passed'])))
  })
})
