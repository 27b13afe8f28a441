/**
 * Replicas as processes of their own, of which some die, lose their way to the store or to each other, or stop. Every turn
 * has one end all the same, which is the one that clients are told.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startBlackHole } from '../kit/black-hole.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { startProxy, type TcpProxy } from '../kit/tcp-proxy.ts'
import { turnsIn } from './kit.ts'
import { type Served, serve } from './served.ts'

/** Tells this test's agents from those of any other. */
const MARK = String(40_000_000 + process.pid)

interface Told {
  turn?: string
  outcome?: string
  text?: string
  fault?: { code: string; message: string; retryable: boolean }
}

describe.skipIf(POSTGRES_BIN === undefined)('replicas', { timeout: 90_000 }, () => {
  let server: PostgresServer
  let folder: string
  let schemas = 0
  let schema: string
  const running: Served[] = []
  const proxies: TcpProxy[] = []

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-replicas-'))
    schema = `replicas_${++schemas}`
    writeFileSync(join(folder, 'begun'), '')
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()))
    for (const proxy of proxies.splice(0)) await proxy.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const store = () => ({ kind: 'postgres', url: server.url, schema }) as const
  const turns = () => turnsIn(store())
  /** When the leases of the replicas expire, in the order of their owners. */
  const expiries = async (): Promise<number[]> => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query(`SELECT expires_at FROM ${schema}.leases ORDER BY owner`)
    await client.end()
    return rows.map((row) => Number(row.expires_at))
  }
  const begun = (): number => readFileSync(join(folder, 'begun'), 'utf8').length
  const go = (): void => writeFileSync(join(folder, 'go'), '')
  const proxyTo = async (port: () => number): Promise<TcpProxy> => {
    const proxy = await startProxy(port)
    proxies.push(proxy)
    return proxy
  }

  /**
   * A replica. `url` is its way to the store. One that is to be given up has a short lease; one that is not has a long one
   * where its store is away for a while.
   */
  async function replica({
    url = server.url,
    lease = '8s',
    cluster = '',
    env = {},
  }: Circumstances = {}): Promise<Served> {
    const wait = `printf x >>${folder}/begun; echo one; while [ ! -e ${folder}/go ]; do sleep 0.05; done; echo two`
    const script = `case "$AGENT_MESSAGE" in quick) echo quick;; *) ${wait};; esac`
    const one = await serve(
      `server: { port: 0, socket: false }
default: echo
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 60s, grace: 200ms }
cluster: { lease: ${lease}${cluster} }
agents:
  echo: { protocol: agentproc, command: /bin/sh, args: [-c, 'echo "said $AGENT_MESSAGE"'], pool: { max: 50 } }
  held: { protocol: agentproc, command: /bin/sh, args: [-c, '${script}', '${MARK}'], pool: { max: 50 } }
store: { kind: postgres, url: '${url}', schema: ${schema} }
log: { level: warn, pretty: false }
`,
      { env },
    )
    running.push(one)
    return one
  }

  const post = (at: Served, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${at.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const ask = async (
    at: Served,
    session: string,
    agent = 'echo',
    key?: string,
    input = session,
  ): Promise<Told & { status: number }> => {
    const body = { input, session: { id: session } }
    const response = await post(at, `/v1/turns/${agent}`, body, key === undefined ? {} : { 'idempotency-key': key })
    return { status: response.status, ...((await response.json()) as Told) }
  }
  /** An answer, or that none came. */
  const orNone = (answer: Promise<Told>): Promise<Told> => answer.catch(() => ({ outcome: 'none' }))
  const ready = async (at: Served): Promise<number> => (await fetch(`${at.url}/readyz`)).status
  const ends = async (): Promise<string[]> =>
    (await turns()).map(({ outcome, code, ends, endsLast }) => `${outcome} ${code} ${ends} ${endsLast}`).sort()

  test('a replica that is killed takes its own turns with it, each with one end, and nothing else', async () => {
    const [dead, one, two] = await Promise.all([replica({ lease: '4s' }), replica(), replica()])
    const sessions = Array.from({ length: 20 }, (_, at) => `s${at}`)
    // Half of the clients are at another replica, which sends their requests on.
    for (const session of sessions) await ask(dead, session, 'held', undefined, 'quick')
    const held = sessions.map((session, at) => orNone(ask(at % 2 ? two : dead, session, 'held', `key ${session}`)))
    await until(() => begun() === sessions.length)
    const [follow] = (await turns()).filter(({ outcome }) => outcome === null)
    const followed = fetch(`${one.url}/v1/turns/${follow!.turn}/events`).then((response) => response.text())
    dead.process.kill('SIGKILL')
    // Those who were at the dead one hear nothing; the others are told, or their request is done again under its key.
    const repeated = sessions.map((session) => ask(two, session, 'held', `key ${session}`))
    await until(async () => (await turns()).filter(({ code }) => code === 'internal').length === sessions.length)
    await followed.catch(() => '')
    const again = await fetch(`${two.url}/v1/turns/${follow!.turn}/events`, { headers: { 'last-event-id': '2' } })
    expect(await again.text()).toContain('"code":"internal"')
    go()
    expect((await Promise.all(repeated)).map(({ outcome, text }) => `${outcome} ${text}`)).toEqual(
      sessions.map(() => 'completed one\ntwo'),
    )
    const told = await Promise.all(held)
    expect(told.filter((_, at) => at % 2).map(({ outcome, text }) => `${outcome} ${text}`)).toEqual(
      sessions.slice(0, 10).map(() => 'completed one\ntwo'),
    )
    expect(told.filter((_, at) => at % 2 === 0).map(({ outcome }) => outcome)).toEqual(
      sessions.slice(0, 10).map(() => 'none'),
    )
    // One run before and one after, whoever sent the key again.
    const all = await turns()
    expect(all.filter(({ ends, endsLast }) => ends !== 1 || !endsLast)).toEqual([])
    expect(all.filter(({ code }) => code === 'internal')).toHaveLength(20)
    expect(begun()).toBe(40)
    await until(() => pidsOf(MARK).length === 0)
  })

  test('one key is one run, whichever replicas get it in the same moment', async () => {
    const all = await Promise.all([replica(), replica(), replica()])
    go()
    for (let round = 0; round < 5; round += 1) {
      const told = await Promise.all(all.map((at) => ask(at, `s${round}`, 'held', `key ${round}`)))
      expect(new Set(told.map(({ turn }) => turn)).size).toBe(1)
      expect(told.map(({ text }) => text)).toEqual(['one\ntwo', 'one\ntwo', 'one\ntwo'])
    }
    expect(begun()).toBe(5)
  })

  test('a replica that loses the store takes no turns before its lease ends, and tells no end that does not count', async () => {
    const way = await proxyTo(() => Number(new URL(server.url).port))
    const cutOff = await replica({ url: server.url.replace(/:\d+\//, `:${way.port}/`), lease: '4s' })
    const other = await replica()
    const held = orNone(ask(cutOff, 's', 'held'))
    await until(() => begun() === 1)
    way.cut()
    await until(async () => (await ready(cutOff)) === 503)
    expect(await ends()).toEqual(['null null 0 false'])
    expect((await ask(cutOff, 'new')).status).toBe(503)
    await until(async () => (await ends())[0] === 'failed internal 1 true')
    await until(() => pidsOf(MARK).length === 0)
    go()
    expect((await ask(other, 's')).text).toBe('said s')
    await way.heal()
    expect((await held).outcome).not.toBe('completed')
    await until(async () => (await ready(cutOff)) === 200)
    expect((await ask(cutOff, 's')).text).toBe('said s')
    expect(await ends()).toEqual(['completed null 1 true', 'completed null 1 true', 'failed internal 1 true'])
  })

  test('a write that the store refuses ends its own turn, and no other', async () => {
    const one = await replica()
    const held = ask(one, 's', 'held')
    await until(() => begun() === 1)
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`SET search_path TO ${schema};
      CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON turns FOR EACH ROW WHEN (NEW.messages LIKE '%poison%')
        EXECUTE FUNCTION refuse()`)
    await admin.end()
    // Its end is not recorded, so it is not told either.
    expect((await orNone(ask(one, 'poisoned', 'echo', 'key', 'poison'))).outcome).toBe('none')
    await until(() => one.logged().includes('the record can be written again'))
    expect([await ready(one), (await ask(one, 'other')).outcome]).toEqual([200, 'completed'])
    go()
    expect((await held).outcome).toBe('completed')
    expect(await ends()).toEqual(['completed null 1 true', 'completed null 1 true', 'failed internal 1 true'])
  })

  test('replicas that do not reach each other refuse what is not theirs, until they do', async () => {
    let port = 0
    const way = await proxyTo(() => port)
    const apart = await replica({ cluster: `, address: 'http://127.0.0.1:${way.port}'` })
    port = apart.port
    const other = await replica()
    expect((await ask(apart, 's')).outcome).toBe('completed')
    expect((await ask(other, 's')).outcome).toBe('completed')
    way.cut()
    const refused = await ask(other, 's')
    expect([refused.status, refused.fault?.code]).toEqual([503, 'agent-unavailable'])
    expect((await ask(other, 'own')).outcome).toBe('completed')
    expect((await ask(apart, 's')).outcome).toBe('completed')
    await way.heal()
    expect((await ask(other, 's')).outcome).toBe('completed')
  })

  interface Differs {
    secret?: string
    address?: string
    lease?: string
  }
  test.each<[what: string, differs: Differs, why: string]>([
    ['that has another secret', { secret: 'b' }, 'it does not accept this one: cluster.secret differs'],
    ['at whose address nobody listens', { address: 'http://127.0.0.1:9', lease: '4s' }, 'it cannot be reached there'],
    ['whose connections are dropped', { address: 'dropped', lease: '60s' }, 'it cannot be reached there'],
    ['that gives the address of another one', { address: 'first' }, 'another one answers there'],
  ])('a replica %s is logged, and clients are told to come again', async (_what, differs, why) => {
    const { secret = 'a', address, lease } = differs
    const withSecret = (letter: string, more = ''): Circumstances => ({
      ...(lease !== undefined && { lease }),
      cluster: `, secret: { env: SECRET }${more}`,
      env: { SECRET: letter.repeat(16) },
    })
    const first = await replica(withSecret('a'))
    const hole = address === 'dropped' ? await startBlackHole() : undefined
    const at = address === 'first' ? first.url : (hole?.address ?? address)
    const other = await replica(withSecret(secret, at ? `, address: '${at}'` : ''))
    expect((await ask(other, 's')).outcome).toBe('completed')
    await until(() => first.logged().includes(why))
    const refused = await ask(first, 's')
    expect([refused.status, refused.fault?.code]).toEqual([503, 'agent-unavailable'])
    expect((await ask(first, 'own')).outcome).toBe('completed')
    expect((await ask(other, 's')).outcome).toBe('completed')
    hole?.close()
  })

  test('a store that is slow, or restarts, is only waited for', async () => {
    const way = await proxyTo(() => Number(new URL(server.url).port))
    const slow = await replica({ url: server.url.replace(/:\d+\//, `:${way.port}/`), lease: '60s' })
    const other = await replica({ lease: '60s' })
    way.delay(100)
    expect((await ask(slow, 's')).text).toBe('said s')
    expect((await ask(other, 's')).text).toBe('said s')
    const held = ask(slow, 's', 'held')
    await until(() => begun() === 1)
    way.delay(0)
    await server.stop('fast')
    await server.start()
    go()
    expect((await held).text).toBe('one\ntwo')
    await until(async () => (await ready(other)) === 200 && (await ready(slow)) === 200)
    expect((await ask(other, 's')).text).toBe('said s')
  })

  test('a clock that is half an hour off changes nothing', async () => {
    const clock = join(import.meta.dirname, 'clock-offset.mjs')
    const lease = '12s'
    const ahead = await replica({ lease, env: { NODE_OPTIONS: `--import ${clock}`, CLOCK_OFFSET: '1800000' } })
    const behind = await replica({ lease, env: { NODE_OPTIONS: `--import ${clock}`, CLOCK_OFFSET: '-1800000' } })
    const exact = await replica({ lease })
    const all = [ahead, behind, exact]
    const held = all.map((at, n) => ask(at, `held ${n}`, 'held'))
    await until(() => begun() === 3)
    for (const [n, at] of all.entries()) expect((await ask(at, `s${n}`)).outcome).toBe('completed')
    for (const [n] of all.entries()) expect((await ask(all[(n + 1) % 3]!, `s${n}`)).outcome).toBe('completed')
    // An answer is given again by each of them: it is no older there than where it was given first.
    for (const [n, at] of all.entries()) {
      const key = `key ${n}`
      const { turn } = await ask(at, key, 'echo', key)
      for (const other of all) expect((await ask(other, key, 'echo', key)).turn).toBe(turn)
    }
    const before = await expiries()
    await until(async () => (await expiries()).every((at, n) => at > before[n]!))
    go()
    expect((await Promise.all(held)).map(({ text }) => text)).toEqual(['one\ntwo', 'one\ntwo', 'one\ntwo'])
    expect((await ends()).filter((end) => end !== 'completed null 1 true')).toEqual([])
  })
})

interface Circumstances {
  url?: string
  lease?: string
  cluster?: string
  env?: Record<string, string>
}
