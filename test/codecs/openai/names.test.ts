import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openai/index.ts'
import type { Command, TurnStart } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { ask, errorOf } from './kit.ts'

const MESSAGES = [
  { role: 'user', content: 'one', name: 'ann' },
  { role: 'assistant', content: 'two', name: 'coder' },
  { role: 'user', content: 'three', name: 'ann' },
  { role: 'user', content: [{ type: 'text', text: 'four', mark: 1 }], name: 'bob' },
]
const SENT = MESSAGES.map(({ role, content, name }) => ({ role, content, name }))

/** What a server of the dialect gets of these messages, and what is lost. */
function sent(dialect: string, messages: readonly object[]) {
  const drive = driveBack(codec, { dialect })
  drive.link.encode(ask({ model: 'm', messages }).commands[0] as Command & TurnStart)
  const body = JSON.parse((drive.calls[0] as { body: string }).body) as Record<string, unknown>
  return { body, losses: drive.losses.map(({ kind, item, field }) => [kind, item, field]) }
}

describe('the names of speakers', () => {
  test('reach a server of the same API, each with its message', () => {
    const plain = SENT.map((message) => (message.name === 'bob' ? { ...message, content: 'four' } : message))
    expect(sent('chat', plain)).toMatchObject({ body: { messages: plain }, losses: [] })
    const system = [
      { role: 'developer', content: 'first', name: 'rules' },
      ...SENT.slice(0, 2),
      { role: 'system', content: 'now', name: 'rules' },
      { role: 'user', content: 'go', name: 'ann' },
      { role: 'user', content: 'on' },
    ]
    expect(sent('chat', system).body['messages']).toEqual(system)
  })

  test('are a loss for a server of the Responses API', () => {
    const { body, losses } = sent('responses', SENT)
    expect(JSON.stringify(body['input'])).not.toMatch(/"name"/)
    expect(losses).toEqual(SENT.map(() => ['dropped', 'part.ext', 'openai']))
  })

  test('are texts, and need no content', () => {
    expect(errorOf(ask({ messages: [{ role: 'user', content: 'hi', name: 5 }] }))).toMatchObject({
      message: 'messages[0].name must be a string.',
      param: 'messages[0].name',
    })
    expect(sent('chat', [{ role: 'user', content: '', name: 'ann' }]).body['messages']).toEqual([
      { role: 'user', content: '', name: 'ann' },
    ])
  })
})
