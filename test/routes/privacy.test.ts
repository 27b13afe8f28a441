import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { recordedEvents, TURNS } from '../kit/journal.ts'
import { until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname
const CANARY = 'canary-7431'

describe('what is said in a turn', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
agents:${EXAMPLE_AGENTS}
  staged: { protocol: native, command: ${process.execPath}, args: [${KIT}/staged.mjs] }
routes: [{ when: { session: "shape-*" }, agent: helper, journal: shape }]
`)
  })
  afterAll(() => gateway.close())

  const ask = async (session: string, privacy: string): Promise<void> => {
    const context = {
      session_id: session,
      user_intent: CANARY,
      environment_state: { privacy_tier: privacy, note: CANARY },
    }
    const response = await fetch(`${gateway.url}/v1/openharness`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ protocol_version: '1.0.0', request_id: session, request: { context } }),
    })
    expect(await response.text()).toContain(CANARY)
  }
  /** Event types of the session's turn, and whether the database file or its log holds what was said. */
  const kept = async (session: string): Promise<{ types: string[]; leaks: boolean; outcome: unknown }> => {
    const db = new DatabaseSync(join(gateway.folder, 'turnpike.db'))
    const row = () => db.prepare(`SELECT turn, outcome FROM ${TURNS} WHERE request = ?`).get(session)
    await until(() => row()?.['outcome'] !== null)
    const { turn, outcome } = row()!
    const events = recordedEvents(db, turn as string)
    db.close()
    const bytes = ['turnpike.db', 'turnpike.db-wal'].map((file) => readFileSync(join(gateway.folder, file)))
    return {
      types: [...new Set(events.map(({ type }) => type))],
      leaks: Buffer.concat(bytes).includes(CANARY),
      outcome,
    }
  }

  test.each([
    ['secret-1', 'secret'],
    ['shape-1', 'public'],
  ])('is not written down in %s (%s): only what happened is', async (session, privacy) => {
    await ask(session, privacy)
    expect(await kept(session)).toEqual({
      types: ['turn-accepted', 'turn-started', 'message-start', 'text-delta', 'message-end', 'turn-end'],
      leaks: false,
      outcome: 'completed',
    })
  })

  test('is not written down where an agent says it of its tools or its failure either', async () => {
    const ext = { protocol: 'native', json: { said: CANARY } }
    const fault = { code: 'provider-auth', message: `No ${CANARY}.`, retryable: false, ext }
    const stages = [
      [
        { type: 'tool-start', tool: 't1', name: 'ls', title: CANARY, executor: 'agent' },
        { type: 'turn-end', outcome: 'failed', fault },
      ],
    ]
    const response = await fetch(`${gateway.url}/v1/turns/staged`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: JSON.stringify(stages), request: 'shape-2', session: { id: 'shape-2' } }),
    })
    expect(((await response.json()) as { fault: { message: string } }).fault.message).toBe(`No ${CANARY}.`)
    expect(await kept('shape-2')).toEqual({
      types: ['turn-accepted', 'tool-start', 'tool-end', 'turn-end'],
      leaks: false,
      outcome: 'failed',
    })
  })

  test('is written down otherwise', async () => {
    await ask('public-1', 'public')
    expect(await kept('public-1')).toMatchObject({ leaks: true, outcome: 'completed' })
  })
})

describe('what a client calls secret of its surroundings', () => {
  const bodies: string[] = []
  let engine: Server
  let gateway: TestGateway

  beforeAll(async () => {
    engine = createServer((request, response) => {
      let body = ''
      request.on('data', (text) => {
        body += text
      })
      request.on('end', () => {
        bodies.push(body)
        response.end('{"protocol_version":"1.0.0","response":{"status":"success","action_directives":[]}}')
      })
    })
    await new Promise<void>((resolve) => engine.listen(0, '0.0.0.0', resolve))
    const { port } = engine.address() as AddressInfo
    // This machine under a name that says nothing of where it is.
    gateway = await startGateway(`
default: there
agents:
  there: { protocol: openharness, url: "http://0.0.0.0:${port}/" }
  here: { protocol: openharness, url: "http://127.0.0.1:${port}/" }
routes:
  - { when: { session: "pass-*" }, agent: there, secrets: pass }
  - { when: { session: "strict-*" }, agent: there, loss: strict }
`)
  })
  afterAll(async () => {
    await gateway.close()
    engine.close()
  })

  const ask = async (
    session: string,
    tier: string,
    path = '',
  ): Promise<{ status: number; told: boolean; text: string }> => {
    bodies.length = 0
    const context = { session_id: session, user_intent: 'hi', environment_state: { privacy_tier: tier, note: CANARY } }
    const response = await fetch(`${gateway.url}/v1/openharness${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ protocol_version: '1.0.0', request: { context } }),
    })
    return { status: response.status, told: bodies.join('').includes(CANARY), text: await response.text() }
  }

  test.each([
    ['secret', 'kept-1', '', false],
    ['a tier that is not known', 'kept-2', '', false],
    ['restricted', 'kept-3', '', true],
    ['secret', 'pass-1', '', true],
    ['secret', 'kept-4', '/here', true],
  ])(
    'is told to agents on this machine, and to others where the route says so: %s in %s%s',
    async (tier, session, path, told) => {
      const answer = await ask(session, tier, path)
      expect(answer).toMatchObject({ status: 200, told })
      const loss = '{"kind":"dropped","item":"start.environment","why":"policy","count":1}'
      expect(answer.text.includes(loss)).toBe(!told)
    },
  )

  test('is a loss: a route that takes none refuses it', async () => {
    expect(await ask('strict-1', 'secret')).toMatchObject({ status: 422, told: false })
    expect(await ask('strict-2', 'public')).toMatchObject({ status: 200, told: true })
  })
})
