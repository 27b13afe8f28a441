/** Parts that an API of OpenAI has no form for, as its server gets the messages that had them. */
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openai/index.ts'
import type { Call } from '../../../src/contract/index.ts'
import type { Message, Part } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'

const hi: Message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] }
const ITEM: Part = {
  type: 'data',
  json: '{"type":"web_search_call","id":"ws_1"}',
  ext: { protocol: 'openai', json: '{"item":true}' },
}
const LOST = { kind: 'dropped', why: 'no-place', count: 1 }

/** What a server gets of this conversation, and what is lost of it. */
function sent(dialect: 'chat' | 'responses', history: Message[], input: readonly Part[]) {
  const drive = driveBack(codec, { dialect })
  drive.start('', { history, input })
  const { body } = drive.calls[0] as Extract<Call, { kind: 'http' }>
  const { messages, input: items } = JSON.parse(String(body)) as { messages?: unknown[]; input?: unknown[] }
  return { said: messages ?? items, losses: drive.losses }
}

describe('items of the Responses API', () => {
  const go: Part = { type: 'text', text: 'go' }
  const found: Part = { type: 'text', text: 'found' }

  test.each([
    [[ITEM], []],
    [[ITEM, found], [{ role: 'assistant', content: 'found' }]],
  ])('are no part of a message of Chat Completions: %j', (parts, answers) => {
    const { said, losses } = sent('chat', [hi, { role: 'assistant', parts }], [go])
    expect(said).toEqual([{ role: 'user', content: 'hi' }, ...answers, { role: 'user', content: 'go' }])
    expect(losses).toEqual([{ ...LOST, item: 'part.data' }])
  })

  test('go back to a server of their own as they came', () => {
    const { said, losses } = sent('responses', [hi, { role: 'assistant', parts: [ITEM] }], [go])
    expect(said?.[1]).toEqual({ type: 'web_search_call', id: 'ws_1' })
    expect(losses).toEqual([])
  })
})

test.each([
  ['chat', { type: 'image', ref: 'file-1' }, { role: 'user', content: '' }],
  ['responses', { type: 'audio', url: 'https://a/b.mp3' }, { type: 'message', role: 'user', content: '' }],
] as const)(
  'a message to a server of %s of which nothing is left has an empty text, as it takes no empty list',
  (dialect, part, message) => {
    expect(sent(dialect, [], [part])).toEqual({ said: [message], losses: [{ ...LOST, item: `part.${part.type}` }] })
  },
)
