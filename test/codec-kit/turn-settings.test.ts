import { expect, test } from 'vitest'
import { withSettings } from '../../src/codec-kit/index.ts'
import type { Ext, TurnStart } from '../../src/model/index.ts'

test('other settings replace all of those before, and nothing else', () => {
  const start: TurnStart & { ext?: Ext } = {
    type: 'turn-start',
    turn: 't',
    task: 'prompt',
    input: [{ type: 'text', text: 'hi' }],
    agent: 'a',
    user: 'u',
    options: { model: 'm', topP: 1 },
    clientTools: [{ name: 'f' }],
    ext: { protocol: 'p', json: '{}' },
  }
  const { agent: _agent, user: _user, clientTools: _tools, ext: _ext, ...bare } = start
  expect(withSettings(start, { options: { effort: 'low' } })).toEqual({ ...bare, options: { effort: 'low' } })
  const all = { agent: 'b', user: 'v', options: {}, clientTools: [{ name: 'g' }], ext: { protocol: 'q', json: '{}' } }
  expect(withSettings(start, all)).toEqual({ ...bare, ...all })
})
