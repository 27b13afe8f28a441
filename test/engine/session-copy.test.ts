import { expect, test } from 'vitest'
import type { ForkOrigin, SessionRecord } from '../../src/contract/index.ts'
import { SessionCopy } from '../../src/engine/session/session-copy.ts'
import { plainAgent } from '../kit/plain.ts'

const FORK: ForkOrigin = { of: 'first', bound: 'its id', turn: 't' }

function copyOf(more: Partial<SessionRecord> = {}) {
  const heard: unknown[] = []
  const recorder = {
    origin: async (fork: ForkOrigin) => fork.bound,
    copied: ({ id }: SessionRecord) => void heard.push(id),
  }
  const key = { tenant: 'local', agent: 'plain', session: 's', conversation: '' }
  const record = { ...key, id: 'kept', createdAt: 3, usedAt: 3, settings: { fork: FORK }, ...more }
  return { copy: SessionCopy.of(record, recorder), heard }
}

test.each([
  [{}, true],
  [{ epoch: 3 }, true],
  [{ epoch: 4 }, false],
  [{ bound: 'own' }, false],
  [{ settings: {} }, false],
  [{ settings: { fork: null } }, false],
] as const)('a session of the record %j is a copy: %s', (more, isCopy) => {
  expect(copyOf(more).copy !== undefined).toBe(isCopy)
})

test('a copy is made by an agent that can copy', async () => {
  const { copy, heard } = copyOf()
  const plain = plainAgent('')
  expect(await copy!.origin(plain)).toBeUndefined()
  const { dialect } = plain
  const able = { ...plain, dialect: { ...dialect, back: { ...dialect.back, copiesSessions: true as const } } }
  expect(await copy!.origin(able)).toBe('its id')
  copy!.served()
  expect(heard).toEqual(['kept'])
})
