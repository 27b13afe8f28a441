import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store, TurnRecord } from '../../src/contract/index.ts'
import { turnWire } from '../../src/engine/dispatch/turn-wire.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Message } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { plainTurn } from '../kit/plain.ts'

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

const TURN: TurnRecord = {
  turn: 't',
  session: 'kept',
  tenant: 'local',
  agent: 'plain',
  front: 'zene',
  owner: 'o',
  epoch: 1,
  startedAt: 4,
  delivered: false,
}
const ENDED = { ...TURN, endedAt: 6, outcome: 'completed', measures: { back: 'zot', timings: {}, told: 1 } } as const
const OWN = { tenant: 'local', admin: false }
const said = (role: Message['role'], text: string): Message => ({ role, parts: [{ type: 'text', text }] })

/** Opens the session of the turn. */
async function wireOf(viewer = OWN, turns = new LiveTurns()) {
  return turnWire({ store, turns }, 't', viewer)
}

beforeEach(async () => {
  await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
})

test('a turn is shown to its tenant and to operators', async () => {
  await store.endTurn(ENDED, { wire: '{"client":[],"agent":[]}' })
  const shown = { agent: 'plain', front: 'zene', back: 'zot', kept: { client: [], agent: [] } }
  expect(await wireOf()).toEqual(shown)
  expect(await wireOf({ tenant: 'other', admin: true })).toEqual(shown)
  expect(await wireOf({ tenant: 'other', admin: false })).toBeUndefined()
  expect(await turnWire({ store, turns: new LiveTurns() }, 'none', OWN)).toBeUndefined()
})

test('one without kept frames has its events, and its request from its messages', async () => {
  const messages = [said('user', 'before'), said('user', 'prompt'), said('assistant', 'answer')]
  const line = '{"type":"turn-end","turn":"t","outcome":"completed"}'
  await store.endTurn({ ...ENDED, request: 'r' }, { messages, events: { turn: 't', seq: 3, lines: line } })
  expect(await wireOf()).toMatchObject({
    command: {
      session: { id: 's' },
      request: 'r',
      input: [{ type: 'text', text: 'prompt' }],
      history: [said('user', 'before')],
    },
    events: [{ seq: 3, event: { type: 'turn-end', outcome: 'completed' } }],
  })
})

test('one without messages has an empty request', async () => {
  await store.endTurn({ ...ENDED, measures: { back: 'zot', timings: {} } })
  const wire = await wireOf()
  expect(wire).toMatchObject({ command: { input: [] }, events: [] })
  expect(wire && 'command' in wire && wire.command).not.toHaveProperty('history')
})

test('one that runs here has its own request', async () => {
  await store.beginTurn(TURN)
  const { turn } = plainTurn()
  const turns = new LiveTurns()
  turns.add(turn)
  const { command, back } = (await wireOf(OWN, turns)) as { command: unknown; back: string }
  expect([command, back]).toEqual([turn.command, 'plain'])
})
