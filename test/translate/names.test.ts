import { expect, test } from 'vitest'
import type { TurnEvent } from '../../src/model/index.ts'
import { AgentSessions } from '../../src/translate/agent-sessions.ts'
import { AskIds } from '../../src/translate/ask-ids.ts'

const ask = (id: string): TurnEvent => ({
  type: 'ask',
  turn: 't',
  ask: id,
  question: { kind: 'client', method: 'm', params: '{}' },
})
const reply = (id?: string) =>
  ({
    exchange: 'x',
    type: 'ask-reply',
    target: 'running',
    reply: { kind: 'client', result: '1' },
    ...(id !== undefined && { ask: id }),
  }) as const

test('a question is answered under the id that it has in the other protocol', () => {
  const ids = new AskIds()
  ids.show(ask('own'))
  ids.read({ type: 'turn-started', turn: 't' })
  ids.read(ask('other'))
  ids.show({ type: 'turn-started', turn: 't' })
  ids.read(ask('not ours'))
  expect(ids.translated(reply('own'))).toEqual(reply('other'))
  expect(ids.translated(reply('unknown'))).toEqual(reply('unknown'))
  expect(ids.translated(reply())).toEqual(reply())
  const cancel = { exchange: 'x', type: 'turn-cancel', target: 'running' } as const
  expect(ids.translated(cancel)).toBe(cancel)
})

test('a turn is in the newest session that its agent has named by then', () => {
  const first = new AgentSessions([])
  expect(first.next(0, 'own')).toBe('own')
  first.bind(0, 'a')
  first.bind(1, 'a')
  first.bind(3, 'b')
  const known = new AgentSessions(first.read)
  expect([0, 1, 2, 3].map((turns) => known.next(turns, 'own'))).toEqual(['a', 'a', 'b', 'b'])
})
