import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS, TURNPIKE } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const MARK = 'restart-test'

type Json = Record<string, unknown>

describe('a gateway that is killed and started again on the same store', () => {
  let folder: string
  let gateway: ChildProcess
  let url: string | undefined

  const start = async (): Promise<void> => {
    gateway = spawn(process.execPath, [
      TURNPIKE,
      'serve',
      '--config',
      join(folder, 'turnpike.yaml'),
      // The next one on the same address takes over at once.
      ...(url === undefined ? [] : ['--port', new URL(url).port]),
    ])
    const first = await new Promise<string>((resolve) => gateway.stdout!.once('data', (data) => resolve(String(data))))
    url = /http:\/\/[\d.:]+/.exec(first)![0]
  }
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill(signal)
    await ended
  }
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Json> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Json
  }
  const events = async (turn: unknown, after = 0): Promise<Json[]> => {
    const headers = { accept: 'application/x-ndjson', 'last-event-id': String(after) }
    const text = await (await fetch(`${url}/v1/turns/${turn}/events`, { headers })).text()
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json)
  }
  const openharness = (context: object, id: string): Promise<Json> =>
    post('/v1/openharness/careful', { protocol_version: '1.0.0', request_id: id, request: { context } })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-restart-'))
    writeFileSync(
      join(folder, 'turnpike.yaml'),
      `server: { port: 0, socket: false }
default: coder
agents:
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc, ${MARK}] }
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs, ${MARK}] }
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs, ${MARK}], permission: true }
log: { level: error, pretty: false }
store: { path: ./turnpike.db }
`,
    )
    await start()
  })
  afterAll(async () => {
    await stop('SIGINT')
    rmSync(folder, { recursive: true, force: true })
  })

  test('has an honest end for every turn, and what was answered is answered again', async () => {
    const keyed = { input: 'hello', session: { id: 's1' } }
    const done = await post('/v1/turns', keyed, { 'idempotency-key': 'k1' })
    const before = await events(done['turn'])
    const waiting = await post('/v1/turns', { input: 'wait', agent: 'patient' }, { prefer: 'respond-async' })
    const parked = await openharness({ session_id: 's2', user_intent: 'hi' }, 'r1')
    const { response } = parked as { response: { action_directives: { payload: { continuation: Json } }[] } }
    const { continuation } = response.action_directives.at(-1)!.payload
    await stop('SIGKILL')
    await until(() => pidsOf(MARK).length === 0)
    await start()

    // The one that was answered: the same events, from any of them on, and the same answer under the same key.
    expect(await events(done['turn'])).toEqual(before)
    expect(await events(done['turn'], 2)).toEqual(before.slice(2))
    const again = await post('/v1/turns', keyed, { 'idempotency-key': 'k1' })
    expect([again['turn'], again['text']]).toEqual([done['turn'], done['text']])

    // The ones that ran and waited: failed, and whoever asks is told so.
    const lost = { outcome: 'failed', fault: { code: 'internal' } }
    expect((await events(waiting['id'])).at(-1)).toMatchObject({ type: 'turn-end', ...lost })
    const late = await openharness({ session_id: 's2', user_intent: 'allow', continuation }, 'r2')
    expect(late).toMatchObject({ response: { status: 'error', error: { code: 'internal' } } })

    const next = await post('/v1/turns', { input: 'next', session: { id: 's1' } })
    expect(next['text']).toBe('You said: next (turn 1 of this session)')
  })
})
