/** `turnpike tail`, and the stream of all turns that it reads. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { row } from '../../src/cli/tail-rows.ts'
import type { TurnInfoReply } from '../../src/model/index.ts'
import { startSocket } from '../../src/server.ts'
import { askHttp, runTurnpike } from '../kit/clients.ts'
import { AGENTS, EXAMPLE_AGENTS, startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const KEYS = { first: 'first-key-of-the-test', second: 'second-key-of-the-test' }
const BARRED = 'barred-key-of-the-test'

/** A key of the configuration. */
function hashed(name: string, key: string, more = ''): string {
  return `{ name: ${name}, hash: ${createHash('sha256').update(key).digest('hex')}${more} }`
}

/** The turns that a follower has been told, as they came. */
class Follower {
  readonly told: TurnInfoReply[][] = []
  readonly #leaving = new AbortController()

  async follow(url: string, accept: string, headers: Record<string, string> = {}): Promise<Response> {
    const { signal } = this.#leaving
    const response = await fetch(`${url}/v1/turns?follow=1`, { headers: { accept, ...headers }, signal })
    void this.#read(response)
    return response
  }

  leave(): void {
    this.#leaving.abort()
  }

  /** What has been told of one session, its first event first. */
  of(session: string): TurnInfoReply[] {
    return this.told.flat().filter((turn) => turn.session === session)
  }

  async #read(response: Response): Promise<void> {
    let text = ''
    try {
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (text + piece).split('\n')
        text = lines.pop()!
        const data = lines.map((line) => line.replace(/^data: /, '')).filter((line) => line.startsWith('{"turns"'))
        for (const line of data) this.told.push((JSON.parse(line) as { turns: TurnInfoReply[] }).turns)
      }
    } catch {
      // It has left.
    }
  }
}

describe('all turns of a gateway', () => {
  let gateway: TestGateway
  const followers: Follower[] = []
  const following = async (accept: string): Promise<Follower> => {
    const follower = new Follower()
    followers.push(follower)
    await follower.follow(gateway.url, accept)
    return follower
  }

  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }
  exits: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
routes:
  - { when: { session: "routed-*" }, agent: exits }
`)
  })
  afterAll(async () => {
    for (const follower of followers) follower.leave()
    await gateway.close()
  })

  test.each(['text/event-stream', 'application/x-ndjson'])('are told as they get further, by %s', async (accept) => {
    const follower = await following(accept)
    await until(() => follower.told.length === 1)
    expect(follower.told).toEqual([[]])
    const session = `f-${accept.slice(0, 4)}`
    await askHttp(gateway.url, 'zene', { text: 'hi', session, agent: 'coder', id: `r-${session}` })
    await until(() => follower.of(session).at(-1)?.state === 'completed')
    const seen = follower.of(session)
    expect(seen.map(({ phase, state }) => phase ?? state)).toEqual(
      expect.arrayContaining(['queued', 'starting', 'working', 'completed']),
    )
    const { turn, startedAt, endedAt, timings, losses, ...rest } = seen.at(-1)!
    expect(rest).toEqual({
      state: 'completed',
      agent: 'coder',
      front: 'zene',
      back: 'zot',
      session,
      request: `r-${session}`,
      usage: { input: 2, output: 8, cacheRead: 0, cacheWrite: 0, costUsd: 0 },
    })
    expect(timings?.total).toBe(endedAt! - startedAt)
    expect(Object.keys(timings!).sort()).toEqual(['agentStart', 'firstEvent', 'queue', 'total'])
    for (const ms of Object.values(timings!)) expect(ms).toBeGreaterThanOrEqual(0)
    const answer = await fetch(`${gateway.url}/v1/turns/${turn}`)
    expect(await answer.json()).toMatchObject({ turn, timings, losses, ...rest })
    const listed = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: TurnInfoReply[] }
    expect(listed.turns.find((one) => one.turn === turn)).toEqual(seen.at(-1))
  })

  test('begin with those that run; one on a kept process has no start', async () => {
    await askHttp(gateway.url, 'zene', { text: 'quick', session: 'runs', agent: 'patient', id: 'before' })
    const answer = askHttp(gateway.url, 'zene', { text: 'hi', session: 'runs', agent: 'patient', id: 'runs' })
    await until(() => gateway.engine.turns[0]?.view.text.startsWith('pid') === true)
    const follower = await following('text/event-stream')
    await until(() => follower.told.length > 0)
    expect(follower.told[0]).toMatchObject([{ session: 'runs', state: 'running', phase: 'working' }])
    gateway.engine.turns[0]!.cancel()
    await answer
    await until(() => follower.of('runs').at(-1)?.state === 'cancelled')
    expect(follower.of('runs').at(-1)?.timings).not.toHaveProperty('agentStart')
  })

  test('are those of the own key only', async () => {
    const keyed = await startGateway(`
default: helper
server: { keys: [${hashed('first', KEYS.first)}, ${hashed('second', KEYS.second)}, ${hashed('barred', BARRED, ', fronts: [zene]')}] }
agents: { helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] } }
`)
    const follower = new Follower()
    expect((await follower.follow(keyed.url, 'text/event-stream')).status).toBe(401)
    const mine = new Follower()
    await mine.follow(keyed.url, 'text/event-stream', { 'x-api-key': KEYS.first })
    for (const [name, key] of Object.entries(KEYS).reverse()) {
      const body = JSON.stringify({ request_id: name, session_id: `of-${name}`, prompt: 'hi' })
      const headers = { 'content-type': 'application/json', 'x-api-key': key }
      expect((await fetch(`${keyed.url}/v1/zene`, { method: 'POST', headers, body })).status).toBe(200)
    }
    await until(() => mine.of('of-first').at(-1)?.state === 'completed')
    expect(mine.of('of-second')).toEqual([])
    mine.leave()
    const tried = (key: string) => runTurnpike(['tail'], '', { TURNPIKE_URL: keyed.url, TURNPIKE_KEY: key })
    const [barred, wrong] = [await tried(BARRED), await tried('wrong-key')]
    expect(barred).toMatchObject({
      stderr: 'turnpike: the gateway answered with status 403: This key may not use the protocol "native".\n',
      code: 3,
    })
    expect(wrong).toMatchObject({ stderr: 'turnpike: the gateway requires a key: set TURNPIKE_KEY\n', code: 3 })
    await keyed.close()
  })

  describe('in the terminal', () => {
    const running: ChildProcess[] = []
    afterAll(() => {
      for (const child of running) child.kill('SIGKILL')
    })
    /** Starts the command; gives what it has written so far. */
    const tail = (args: readonly string[], env: Record<string, string>): (() => string) => {
      const child = spawn(process.execPath, [TURNPIKE, 'tail', ...args], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      running.push(child)
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text
      })
      return () => out
    }
    const watched = async (): Promise<void> => {
      await until(async () => {
        const turn = await askHttp(gateway.url, 'zene', { text: 'hi', session: 'knock', id: String(Math.random()) })
        return turn.ok && outs.every((out) => out().includes('"knock"') || out().includes('STARTED'))
      })
    }
    let outs: (() => string)[] = []

    test('are a row each, or a line of JSON; filters leave out the others', async () => {
      const env = { TURNPIKE_URL: gateway.url }
      const rows = tail([], env)
      const json = tail(['--json'], env)
      outs = [rows, json]
      await watched()
      const failed = tail(['--json', '--failed', '--agent', 'exits', '--session', 'routed-1'], env)
      await until(async () => {
        await askHttp(gateway.url, 'zene', { text: 'hi', session: 'routed-1', id: String(Math.random()) })
        return failed().includes('\n')
      })
      const [first] = failed().split('\n')
      expect(JSON.parse(first!)).toMatchObject({
        state: 'failed',
        agent: 'exits',
        back: 'agentproc',
        route: 'session=routed-*',
        session: 'routed-1',
        code: 'agent-crashed',
      })
      const { turn } = JSON.parse(first!) as TurnInfoReply
      const ended = (out: () => string) =>
        out()
          .split('\n')
          .find((line) => line.includes(turn) && line.includes('failed'))
      await until(() => ended(rows) !== undefined && ended(json) !== undefined)
      expect(rows().split('\n')[0]).toBe(
        'STARTED   TURN                    CLIENT       ROUTE         AGENT                 STATE       QUEUED   START    FIRST    TOTAL    TOKENS       LOST   ENDING',
      )
      expect(rows().match(/STARTED/g)).toHaveLength(1)
      expect(ended(rows)).toMatch(
        / {2}zene +session=routed-\* +exits\/agentproc +failed +\d+ms +\d+ms +\d+ms +\d+ms +- +\d+ +agent-crashed The agent failed \(exit code 3\); its stderr is in the gateway log\.$/,
      )
      expect(JSON.parse(ended(json)!)).toEqual(JSON.parse(first!))
    })

    test('end with the gateway, by its socket too', async () => {
      const other = await startGateway(
        `default: helper\nagents: { helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] } }`,
      )
      const codecs = Object.values(await loadCodecs())
      const path = join(other.folder, 'run', 't.sock')
      const socket = await startSocket(
        path,
        { engine: other.engine, codecs, version: '0', command: 'turnpike' },
        other.config.server.limits,
      )
      const out = tail(['--json'], { TURNPIKE_URL: `unix:${path}` })
      const ended = once(running.at(-1)!, 'exit')
      await until(async () => {
        await askHttp(other.url, 'zene', { text: 'hi', session: 's', id: String(Math.random()) })
        return out() !== ''
      })
      await other.close()
      expect(await ended).toEqual([0, null])
      await socket.close()
    })

    test('need a gateway', async () => {
      const ran = await runTurnpike(['tail'], '', { TURNPIKE_URL: 'http://127.0.0.1:9' })
      expect(ran).toEqual({
        stdout: '',
        stderr: 'turnpike: no gateway runs on this configuration, or at TURNPIKE_URL; start it: turnpike serve\n',
        code: 3,
      })
      const wrong = await runTurnpike(['tail'], '', { TURNPIKE_URL: 'localhost:8484' })
      expect(wrong).toEqual({
        stdout: '',
        stderr:
          'turnpike: TURNPIKE_URL is not a valid address; write it as http://HOST:PORT, https://HOST or unix:PATH\n',
        code: 3,
      })
    })
  })
})

test.each([
  [{}, '-'],
  [{ usage: { input: 1, output: 2 } }, '1/2'],
  [{ usage: { output: 2 } }, '?/2'],
  [{ usage: { total: 7 } }, '7'],
])('a row of a turn with %j has the tokens %s', (more, tokens) => {
  const turn: TurnInfoReply = {
    turn: 't\u001b[2J',
    state: 'running',
    agent: 'a',
    front: 'f',
    session: 's',
    startedAt: 0,
    ...more,
  }
  const cells = row({ ...turn, timings: { queue: 999.6, firstEvent: 1_234, total: 61_000 } }, false).split(/ +/)
  expect(cells.slice(1)).toEqual([
    't\\u001b[2J',
    'f',
    '-',
    'a',
    'running',
    '1000ms',
    '-',
    '1.2s',
    '1m1s',
    tokens,
    '-',
    '-\n',
  ])
  expect(row(turn, true)).toContain('\u001b[36mrunning   \u001b[0m')
})
