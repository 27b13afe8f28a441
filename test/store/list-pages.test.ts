import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Listed, Store, TurnPage } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'

/** A turn of the record; `state` is that of a turn that runs, or its outcome. */
interface Made {
  id: string
  tenant: string
  agent: string
  front: string
  at: number
  state: 'running' | 'completed' | 'failed'
  session: string
}

const STATES = ['running', 'completed', 'failed'] as const
const made = fc.record({
  id: fc.string({ unit: fc.constantFrom('a', 'B', 'c'), minLength: 3, maxLength: 5 }),
  tenant: fc.constantFrom('ann', 'bob'),
  agent: fc.constantFrom('coder', 'helper'),
  front: fc.constantFrom('acp', 'zot'),
  // Few times, so that several turns have the same one.
  at: fc.integer({ min: 1, max: 5 }),
  state: fc.constantFrom(...STATES),
  session: fc.constantFrom('s', 'S2', 'a\0b'),
})
const conditions = fc.record(
  {
    tenant: fc.constantFrom('ann', 'bob'),
    agent: fc.constantFrom('coder', 'helper', 'nobody'),
    front: fc.constantFrom('acp', 'nothing'),
    state: fc.constantFrom(...STATES),
    session: fc.constantFrom('s', 'a\0b'),
    text: fc.constantFrom('a', 'B', 'cC', 'a\0b', '%', ''),
  },
  { requiredKeys: [] },
)

/** Puts turns into a store. */
async function fill(store: Store, turns: readonly Made[]): Promise<void> {
  for (const { id, tenant, agent, front, at, state, session } of turns) {
    const kept = await store.openSession(
      { tenant, agent, session, conversation: '' },
      `${tenant} ${agent} ${session}`,
      at,
    )
    const about = { session: kept.id, tenant, agent, front, owner: 'o', epoch: 1, delivered: false }
    const record = { ...about, turn: id, startedAt: at }
    await store.beginTurn(record)
    if (state !== 'running') await store.endTurn({ ...record, endedAt: at, outcome: state })
  }
}

/** Everything that pages of a list have. */
async function allOf<T>(pageAfter: (before: string | undefined) => Promise<Listed<T> | undefined>): Promise<T[]> {
  const rows: T[] = []
  let before: string | undefined
  do {
    const page = (await pageAfter(before))!
    rows.push(...page.rows)
    before = page.next
  } while (before !== undefined)
  return rows
}

const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

function matches(one: Made, { tenant, agent, front, state, session, text }: Omit<TurnPage, 'limit'>): boolean {
  const searched = lower([one.id, '', one.session, ''].join('\n'))
  return (
    (tenant === undefined || tenant === one.tenant) &&
    (agent === undefined || agent === one.agent) &&
    (front === undefined || front === one.front) &&
    (state === undefined || state === one.state) &&
    (session === undefined || session === one.session) &&
    (text === undefined || searched.includes(lower(text)))
  )
}

test('law: the pages of a list of turns have every turn that matches once, the latest first', async () => {
  const unique = fc.uniqueArray(made, { maxLength: 14, selector: ({ id }) => id })
  await fc.assert(
    fc.asyncProperty(unique, conditions, fc.integer({ min: 1, max: 4 }), async (turns, wanted, limit) => {
      const store = openStore({ kind: 'sqlite', path: ':memory:' })
      try {
        await fill(store, turns)
        const listed = await allOf((before) =>
          Promise.resolve(store.listTurns({ ...wanted, limit, ...(before !== undefined && { before }) })),
        )
        const expected = turns
          .filter((one) => matches(one, wanted))
          .sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
        expect(listed.map(({ turn, named, outcome }) => [turn, named, outcome ?? 'running'])).toEqual(
          expected.map(({ id, session, state }) => [id, session, state]),
        )
      } finally {
        await store.close()
      }
    }),
    { numRuns: 60 },
  )
})

test('law: the pages of a list of sessions have every session that matches once, the last used first', async () => {
  const used = fc.uniqueArray(
    fc.record({
      tenant: fc.constantFrom('ann', 'bob'),
      agent: fc.constantFrom('coder', 'helper'),
      session: fc.string({ unit: fc.constantFrom('a', 'B', 'c'), minLength: 1, maxLength: 3 }),
      at: fc.integer({ min: 1, max: 5 }),
    }),
    { maxLength: 14, selector: ({ tenant, agent, session }) => `${tenant} ${agent} ${session}` },
  )
  const page = fc.record(
    {
      tenant: fc.constantFrom('ann', 'bob'),
      agent: fc.constantFrom('coder', 'nobody'),
      text: fc.constantFrom('A', 'bc'),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(used, page, fc.integer({ min: 1, max: 4 }), async (sessions, wanted, limit) => {
      const store = openStore({ kind: 'sqlite', path: ':memory:' })
      try {
        const ids = sessions.map((_, at) => `id-${at}`)
        for (const [at, { at: time, ...key }] of sessions.entries())
          await store.openSession({ ...key, conversation: '' }, ids[at]!, time)
        const listed = await allOf((before) =>
          Promise.resolve(store.listSessions({ ...wanted, limit, ...(before !== undefined && { before }) })),
        )
        const expected = sessions
          .map((one, at) => ({ ...one, id: ids[at]! }))
          .filter(({ tenant }) => wanted.tenant === undefined || wanted.tenant === tenant)
          .filter(({ agent }) => wanted.agent === undefined || wanted.agent === agent)
          .filter(({ session }) => wanted.text === undefined || lower(session).includes(lower(wanted.text)))
          .sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
        expect(listed.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
      } finally {
        await store.close()
      }
    }),
    { numRuns: 60 },
  )
})

test('a list that goes on after a row which is not there, or of another tenant, is none', async () => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  onTestFinished(() => store.close())
  const one: Made = { id: 't', tenant: 'ann', agent: 'a', front: 'f', at: 1, state: 'completed', session: 's' }
  await fill(store, [one])
  const { id } = (await store.listSessions({ limit: 1 }))!.rows[0]!
  expect(await store.listTurns({ limit: 1, before: 'none' })).toBeUndefined()
  expect(await store.listTurns({ limit: 1, before: 't', tenant: 'bob' })).toBeUndefined()
  expect(await store.listTurns({ limit: 1, before: 't', tenant: 'ann' })).toEqual({ rows: [] })
  expect(await store.listSessions({ limit: 1, before: 'none' })).toBeUndefined()
  expect(await store.listSessions({ limit: 1, before: id, tenant: 'bob' })).toBeUndefined()
  expect(await store.listSessions({ limit: 1, before: id, tenant: 'ann' })).toEqual({ rows: [] })
})
