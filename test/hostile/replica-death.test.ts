/** A replica that is killed with a hundred turns of many clients in flight, half of which came through another replica. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { type KeptTurn, turnsIn } from './kit.ts'
import { type Served, serve } from './served.ts'

/** Tells this test's agents from those of any other. */
const MARK = String(50_000_000 + process.pid)

const OF_EACH = 10

/** How clients ask: the path, the body, and what they accept. */
const DOORS: Readonly<Record<string, { path: string; accept?: string; body: object; whole?: true }>> = {
  native: { path: '/v1/turns/held', body: { input: 'x' }, whole: true },
  'native lines': { path: '/v1/turns/held', accept: 'application/x-ndjson', body: { input: 'x' } },
  'native events': { path: '/v1/turns/held', accept: 'text/event-stream', body: { input: 'x' } },
  'Chat Completions': {
    path: '/v1/chat/completions',
    body: { model: 'held', messages: [{ role: 'user', content: 'x' }] },
    whole: true,
  },
  'Chat Completions, streamed': {
    path: '/v1/chat/completions',
    body: { model: 'held', stream: true, messages: [{ role: 'user', content: 'x' }] },
  },
  Responses: { path: '/v1/responses', body: { model: 'held', input: 'x' }, whole: true },
  'Responses, streamed': { path: '/v1/responses', body: { model: 'held', stream: true, input: 'x' } },
  Messages: {
    path: '/v1/messages',
    body: { model: 'held', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
    whole: true,
  },
  'Messages, streamed': {
    path: '/v1/messages',
    body: { model: 'held', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'x' }] },
  },
  'zot events': { path: '/v1/zot/held', body: { id: '1', type: 'prompt', message: 'x' } },
}

/** What a client was told: the status and text of an answer that had its end, else that it was cut. */
interface Told {
  door: string
  through: boolean
  whole: boolean
  status?: number
  text?: string
}

interface Heard {
  seq: number
  type: string
}

describe.skipIf(POSTGRES_BIN === undefined)('a replica that is killed', { timeout: 180_000 }, () => {
  let server: PostgresServer
  let folder: string
  let dead: Served
  let peer: Served
  let third: Served
  const told: Told[] = []
  let kept: KeptTurn[] = []
  /** What followers were shown of each turn: before, and after they came again. */
  const followed = new Map<string, [before: Heard[], after: Heard[]]>()

  const store = () => ({ kind: 'postgres', url: server.url, schema: 'death' }) as const
  const start = (labels: string, lease: string): Promise<Served> =>
    serve(`server: { port: 0, socket: false }
default: held
limits: { start: 120s, firstEvent: 120s, idle: 120s, total: 180s, grace: 200ms }
cluster: { lease: ${lease}, labels: [${labels}] }
agents:
  held: { protocol: agentproc, command: /bin/sh, args: [${folder}/agent.sh, '${MARK}'], placement: [work], pool: { max: 200 } }
store: ${JSON.stringify(store())}
log: { level: error, pretty: false }
`)

  async function ask(door: string, through: boolean): Promise<void> {
    const { path, accept, body, whole = false } = DOORS[door]!
    const headers = { 'content-type': 'application/json', ...(accept && { accept }) }
    const one: Told = { door, through, whole }
    told.push(one)
    try {
      const { url } = through ? peer : dead
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: `${JSON.stringify(body)}\n` })
      Object.assign(one, { status: response.status, text: await response.text() })
    } catch {
      // It was cut.
    }
  }

  /** Follows a turn until it is cut or over. */
  async function follow(
    at: Served,
    turn: string,
    after = 0,
    hears: (text: string) => unknown = () => {},
  ): Promise<Heard[]> {
    let text = ''
    try {
      const headers = { accept: 'text/event-stream', ...(after > 0 && { 'last-event-id': String(after) }) }
      const response = await fetch(`${at.url}/v1/turns/${turn}/events`, { headers })
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        text += piece
        hears(text)
      }
    } catch {
      // It was cut.
    }
    return [...text.matchAll(/^id: (\d+)\n(?:event: .*\n)?data: (.*)\n/gm)].map(([, seq, data]) => ({
      seq: Number(seq),
      type: (JSON.parse(data!) as { type: string }).type,
    }))
  }

  beforeAll(async () => {
    server = await startPostgres()
    folder = mkdtempSync(join(tmpdir(), 'turnpike-death-'))
    writeFileSync(join(folder, 'begun'), '')
    writeFileSync(
      join(folder, 'agent.sh'),
      `printf x >>${folder}/begun; echo 'AGENT_PARTIAL:"one"'; while [ ! -e ${folder}/go ]; do sleep 1; done; echo two\n`,
    )
    dead = await start('work', '4s')
    peer = await start('', '8s')
    third = await start('', '8s')
    const clients = Object.keys(DOORS).flatMap((door) =>
      Array.from({ length: OF_EACH }, (_, at) => ask(door, at % 2 === 1)),
    )
    await until(() => readFileSync(join(folder, 'begun'), 'utf8').length === clients.length)
    let running: KeptTurn[] = []
    await until(async () => {
      running = await turnsIn(store())
      return running.length === clients.length
    })
    // All of them are shown the agent's word before.
    const ready = new Set<string>()
    const before = running.map(({ turn }) =>
      follow(peer, turn, 0, (text) => text.includes('text-delta') && ready.add(turn)),
    )
    await until(() => ready.size === running.length)
    dead.process.kill('SIGKILL')
    await Promise.all(clients)
    const shown = await Promise.all(before)
    await until(async () => {
      kept = await turnsIn(store())
      return kept.every(({ outcome }) => outcome !== null)
    })
    await Promise.all(
      running.map(async ({ turn }, at) => {
        const first = shown[at]!
        followed.set(turn, [first, await follow(at % 2 ? peer : third, turn, first.at(-1)?.seq)])
      }),
    )
  })
  afterAll(async () => {
    await Promise.all([dead, peer, third].map((one) => one.stop()))
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('leaves each turn with one end, which says that it was lost', () => {
    expect(kept).toHaveLength(Object.keys(DOORS).length * OF_EACH)
    expect(kept.filter(({ outcome, code }) => outcome !== 'failed' || code !== 'internal')).toEqual([])
    expect(kept.filter(({ ends, endsLast }) => ends !== 1 || !endsLast)).toEqual([])
  })

  test.each(Object.keys(DOORS))('tells its clients no end that is not so: %s', (door) => {
    const all = told.filter((one) => one.door === door)
    expect(all).toHaveLength(OF_EACH)
    for (const { through, whole, status, text } of all) {
      // Another replica can answer in its place where nothing was answered yet.
      if (through && whole)
        expect([status, text]).toEqual([500, expect.stringContaining('was lost before it answered')])
      else expect([status, text]).toEqual([undefined, undefined])
    }
  })

  test('has its turns followed to their end at any other replica, with nothing missing', async () => {
    for (const [turn, [before, after]] of followed) {
      const all = await follow(third, turn)
      const last = before.at(-1)?.seq ?? 0
      expect(after).toEqual(all.filter(({ seq }) => seq > last))
      expect(after.at(-1)?.type).toBe('turn-end')
      expect(before.filter(({ type }) => type === 'turn-end')).toEqual([])
      // What was shown and is in the record has the same number.
      const known = new Map(all.map(({ seq, type }) => [seq, type]))
      expect(before.filter(({ seq, type }) => known.has(seq) && known.get(seq) !== type)).toEqual([])
    }
  })

  test('leaves no agent', () => until(() => pidsOf(MARK).length === 0))
})
