import { expect, test } from 'vitest'
import { IdleLink } from '../../src/engine/agent/idle-link.ts'
import type { AgentLink } from '../../src/engine/agent/index.ts'
import type { Command } from '../../src/model/index.ts'

/** A link that notes what it is sent. */
function idle(ready: boolean) {
  const sent: Command[] = []
  const link = { ready, send: (command: Command) => void sent.push(command) } as Partial<AgentLink> as AgentLink
  return { one: new IdleLink(() => link), sent }
}

const question = (exchange: string) => ({ type: 'query', what: 'models', exchange }) as const
const reply = (exchange: string) => ({ turn: null, type: 'command-reply', exchange, data: '{}' }) as const

test('what is asked before the agent is ready is sent then, and answered under its own exchange', async () => {
  const { one, sent } = idle(false)
  const answers = [one.ask(question('a'), 60_000), one.ask(question('b'), 60_000)]
  expect(sent).toEqual([])
  one.idleEvent({ turn: null, type: 'agent-ready' })
  expect(sent).toEqual([question('a'), question('b')])
  one.idleEvent(reply('b'))
  one.idleEvent(reply('other'))
  one.idleEvent(reply('a'))
  expect(await Promise.all(answers)).toEqual([reply('a'), reply('b')])
})

test('a link that a session takes leaves its questions without an answer', async () => {
  const { one, sent } = idle(true)
  const answer = one.ask(question('a'), 60_000)
  expect(sent).toEqual([question('a')])
  one.leave()
  expect(await answer).toBeUndefined()
})

test('an agent that does not answer in time has none', async () => {
  expect(await idle(true).one.ask(question('a'), 1)).toBeUndefined()
})

const offers = { type: 'query', what: 'offers', exchange: 'o' } as const
const changed = (json: string) => ({ turn: null, type: 'session-changed', json }) as const

test('offers that an agent names right after its answer are part of it', async () => {
  const { one } = idle(true)
  const answer = one.ask(offers, 60_000)
  one.idleEvent({ ...reply('o'), data: '{"mode":"a","title":"t"}' })
  one.idleEvent(changed('{"mode":"b"}'))
  one.idleEvent(changed('{"commands":[]}'))
  expect(await answer).toEqual({ ...reply('o'), data: '{"title":"t","mode":"b","commands":[]}' })
})

test('an answer without data is one at once', async () => {
  const { one } = idle(true)
  const answer = one.ask(offers, 60_000)
  const { data: _, ...refused } = reply('o')
  one.idleEvent(refused)
  expect(await answer).toEqual(refused)
})

test('the session that takes a link learns what its agent has come to offer', () => {
  const { one } = idle(true)
  const heard: unknown[] = []
  const owner = { idleEvent: (event: unknown) => void heard.push(event), callFailed() {} }
  expect(one.giveTo(owner)).toBe(one.link)
  expect([one.link.owner, heard]).toEqual([owner, []])
  one.idleEvent(changed('{"mode":"a"}'))
  one.giveTo(owner)
  expect(heard).toEqual([changed('{"mode":"a"}')])
})
