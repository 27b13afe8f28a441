import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { recordedEvents } from '../kit/journal.ts'
import { until } from '../kit/processes.ts'

const CANARY = 'canary-7431'

describe('what is said in a turn', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
agents:${EXAMPLE_AGENTS}
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
    const row = () => db.prepare('SELECT turn, outcome FROM turns WHERE request = ?').get(session)
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

  test('is written down otherwise', async () => {
    await ask('public-1', 'public')
    expect(await kept('public-1')).toMatchObject({ leaks: true, outcome: 'completed' })
  })
})
