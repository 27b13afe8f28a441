import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { type Capabilities, LOCAL_TENANT, type SessionKey } from '../../src/contract/index.ts'
import { sessionNames } from '../../src/engine/common/session-names.ts'

const codecs = await loadCodecs()
const backs = Object.values(codecs).flatMap(({ dialects }) =>
  Object.values(dialects).flatMap(({ back }) => back?.capabilities ?? []),
)

const record = (key: Partial<SessionKey> & { epoch?: number }) => ({
  tenant: LOCAL_TENANT,
  agent: 'a',
  session: 's',
  conversation: '',
  ...key,
  id: 'S',
  createdAt: 1,
  usedAt: 1,
})
/** All that an agent is told, as one text. */
const told = (key: Partial<SessionKey> & { epoch?: number }, capabilities: Capabilities): string => {
  const { id, conversation } = sessionNames(record(key), capabilities)
  return JSON.stringify(capabilities['session.conversation'] === 'full' ? [id, conversation] : [id])
}

const MADE = sessionNames(record({ tenant: 'alice' }), backs[0]!).id

/** Ids with every separator, blank ones, halves of pairs, long ones, those that are made here. */
const id = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'/\\:#|,;=+&?%@~._- \t\n"\'`[]{}\0ab') }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' ', 's', 'é', 'e\u0301', '\ud800', '\udbff', '\ufffd', '🜂', MADE, `${MADE} `),
  fc.integer({ min: 10_000, max: 10_002 }).map((length) => 'x'.repeat(length)),
)
const key = fc.record({
  tenant: fc.oneof(fc.constantFrom(LOCAL_TENANT, 'alice', 'bob'), fc.string({ minLength: 1 })),
  session: id,
  conversation: fc.oneof(fc.constant(''), id),
  epoch: fc.constantFrom(0, 1, 2),
})

test('no two sessions of an agent are told alike, whatever their ids', () => {
  for (const capabilities of backs) {
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(told(one, capabilities) === told(other, capabilities)).toBe(
          JSON.stringify(one) === JSON.stringify(other),
        )
      }),
      { numRuns: 300 },
    )
  }
})

test('what two parts can be joined to is told apart', () => {
  for (const capabilities of backs) {
    const parts = ['a/b', 'a', 'b', 'b/c', 'c', '']
    const all = parts.flatMap((session) => parts.map((conversation) => told({ session, conversation }, capabilities)))
    expect(new Set(all).size).toBe(all.length)
  }
})

test("the local tenant's own words go through as they came, where the protocol has a place for them", () => {
  const full = { ...backs[0]!, 'session.conversation': 'full' } as const
  const none = { ...backs[0]!, 'session.conversation': 'none' } as const
  for (const session of ['s', 'a/b', ' x ', 'ü\ud800', 'x'.repeat(10_000)]) {
    for (const capabilities of [full, none])
      expect(sessionNames(record({ session }), capabilities)).toEqual({ id: session })
    expect(sessionNames(record({ session, conversation: 'c' }), full)).toEqual({ id: session, conversation: 'c' })
    const { id: made, conversation } = sessionNames(record({ session, conversation: 'c' }), none)
    expect([made, conversation]).toEqual([expect.stringMatching(/^tp-[0-9a-f]{64}$/), made])
  }
})

test('a made name is one that every protocol takes, also for a blank id', () => {
  for (const given of [{ tenant: 'alice' }, { session: '' }, { session: ' \n' }, { epoch: 5 }, { session: MADE }]) {
    expect(sessionNames(record(given), backs[0]!).id).toMatch(/^tp-[0-9a-f]{64}$/)
  }
  // A later version must tell what this one told.
  expect(MADE).toBe('tp-0f01a1173cafbcceecc72f29516671108356c40339449ccf869fb4c2cc5a8257')
})
