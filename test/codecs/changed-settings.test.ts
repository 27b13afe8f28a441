/** Servers of models get the options and tools of the newest request of a turn, and results of calls made before as they were. */
import { describe, expect, test } from 'vitest'
import { codec as anthropic } from '../../codecs/anthropic/index.ts'
import { codec as openai } from '../../codecs/openai/index.ts'
import type { AnyCodec } from '../../src/contract/index.ts'
import type { TurnSettings } from '../../src/model/index.ts'
import { driveBack } from '../kit/drive.ts'

const call = (name: string) => ({ id: 'c1', type: 'function', function: { name, arguments: '{}' } })
const BACKS: readonly (readonly [api: string, codec: AnyCodec, answer: object, result: string])[] = [
  [
    'chat',
    openai,
    { choices: [{ message: { tool_calls: [call('sh')] }, finish_reason: 'tool_calls' }] },
    '"tool_call_id":"c1"',
  ],
  [
    'responses',
    openai,
    {
      object: 'response',
      status: 'completed',
      output: [{ type: 'custom_tool_call', id: 'i1', call_id: 'c1', name: 'sh', input: 'pwd' }],
    },
    '"type":"custom_tool_call_output"',
  ],
  [
    'messages',
    anthropic,
    { type: 'message', content: [{ type: 'tool_use', id: 'c1', name: 'sh', input: {} }], stop_reason: 'tool_use' },
    '"tool_use_id":"c1"',
  ],
]

describe.each(BACKS)('%s', (api, codec, answer, result) => {
  /** The second request of a turn, whose client has answered with these settings. */
  const second = (settings?: TurnSettings): string => {
    const back = driveBack(codec, codec === openai ? { dialect: api } : {})
    back.start('hi', {
      clientTools: [{ name: 'sh', ...(api === 'responses' && { kind: 'custom' as const }) }],
      options: { systemPrompt: 'Be kind.', temperature: 0.25, maxTokens: 9 },
    })
    back.feed(JSON.stringify(answer))
    back.link.decodeEnd({ call: '1', why: 'closed' })
    back.link.encode({
      exchange: 'x2',
      type: 'ask-reply',
      target: { turn: 't1' },
      ask: 'c1',
      reply: { kind: 'tool', status: 'ok', parts: [{ type: 'text', text: 'done' }] },
      ...(settings && { settings }),
    })
    return (back.calls[1] as { body: string }).body
  }

  test('as before where the answer says nothing', () => {
    const body = second()
    for (const kept of ['Be kind.', '"temperature":0.25', '"name":"sh"', result]) expect(body).toContain(kept)
  })

  test('others, and other tools', () => {
    const body = second({ options: { systemPrompt: 'Be brief.', maxTokens: 9 }, clientTools: [{ name: 'new' }] })
    for (const now of ['Be brief.', '"name":"new"', result]) expect(body).toContain(now)
    for (const gone of ['Be kind.', '"temperature"']) expect(body).not.toContain(gone)
  })

  test('none', () => {
    const body = second({ options: {} })
    for (const gone of ['Be kind.', '"temperature"', '"tools"']) expect(body).not.toContain(gone)
    expect(body).toContain(result)
  })
})
