import { describe, expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { asBegun, changeOf } from '../../src/engine/carry/turn-settings.ts'
import type { Item, TurnSettings } from '../../src/model/index.ts'

const BEFORE: TurnSettings = {
  agent: 'coder',
  user: 'u',
  options: { model: 'm', temperature: 1, totalMs: 9, streaming: false },
  clientTools: [{ name: 'f', schema: '{}' }],
  ext: { protocol: 'p', json: '{"a":1}' },
}
const CARRIED: readonly Item[] = ['start.user', 'start.clientTools', 'option.model', 'option.temperature', 'ext']
const takes = { capabilities: capabilities({ full: CARRIED }), takesSettings: true } as const
const keeps = { capabilities: capabilities({ full: CARRIED }) } as const
const lost = (item: Item, why: 'policy' | 'no-place' = 'policy') => ({ kind: 'dropped', item, why, count: 1 })

const { clientTools, ext, user, ...bare } = BEFORE
const options = (more: TurnSettings['options']): TurnSettings => ({
  ...BEFORE,
  options: { ...BEFORE.options, ...more },
})
const { temperature: _, ...cold } = BEFORE.options

describe('other settings of a turn', () => {
  test.each<[string, TurnSettings, Item]>([
    ['a model', options({ model: 'n' }), 'option.model'],
    ['a temperature', options({ temperature: 0 }), 'option.temperature'],
    ['no temperature', { ...BEFORE, options: cold }, 'option.temperature'],
    ['a tool', { ...BEFORE, clientTools: [{ name: 'g' }] }, 'start.clientTools'],
    ['no tools', { ...bare, ...(user && { user }), ...(ext && { ext }) }, 'start.clientTools'],
    ['a user', { ...BEFORE, user: 'v' }, 'start.user'],
    ['a field of its own', { ...BEFORE, ext: { protocol: 'p', json: '{"a":2}' } }, 'ext'],
  ])('%s reaches an agent that takes it, and is else a loss', (_what, now, item) => {
    expect(changeOf(keeps, BEFORE, now)).toEqual({ losses: [lost(item)] })
    const { agent: _agent, options: all, ...others } = now
    const { totalMs: _total, streaming: _form, ...sent } = all
    expect(changeOf(takes, BEFORE, now)).toEqual({ losses: [], settings: { ...others, options: sent } })
  })

  test.each<[string, TurnSettings]>([
    ['the same', { ...BEFORE }],
    ['another form of its answer', options({ streaming: true })],
    ['no agent', { user: 'u', options: BEFORE.options, clientTools: clientTools!, ext: ext! }],
  ])('%s makes no difference', (_what, now) => {
    for (const back of [takes, keeps]) expect(changeOf(back, BEFORE, now)).toEqual({ losses: [] })
  })

  test.each<[string, TurnSettings, Item]>([
    ['another agent', { ...BEFORE, agent: 'writer' }, 'start.agent'],
    ['another limit of its time', options({ totalMs: 8 }), 'option.totalMs'],
  ])('%s is always a loss', (_what, now, item) => {
    for (const back of [takes, keeps]) expect(changeOf(back, BEFORE, now)).toEqual({ losses: [lost(item)] })
  })

  test('what the agent has no place for is a loss when it is said', () => {
    const said = options({ topP: 0.5 })
    for (const back of [takes, keeps]) {
      expect(changeOf(back, BEFORE, said)).toEqual({ losses: [lost('option.topP', 'no-place')] })
      expect(changeOf(back, said, BEFORE)).toEqual({ losses: [] })
    }
    const both = options({ topP: 0.5, model: 'n' })
    expect(changeOf(takes, BEFORE, both)).toEqual({
      losses: [lost('option.topP', 'no-place')],
      settings: { user, clientTools, ext, options: { model: 'n', temperature: 1 } },
    })
  })
})

test('a model that only names the agent, as at the beginning, is none', () => {
  const begun: TurnSettings = { agent: 'coder', options: {} }
  const now: TurnSettings = { agent: 'coder', options: { model: 'coder', topP: 1 } }
  expect(asBegun(begun, now)).toEqual({ agent: 'coder', options: { topP: 1 } })
  for (const [first, next] of [
    [{ ...begun, options: { model: 'coder' } }, now],
    [{ ...begun, agent: 'writer' }, now],
    [begun, { ...now, options: { model: 'gpt' } }],
    [begun, { agent: 'coder', options: {} }],
  ] as const) {
    expect(asBegun(first, next)).toBe(next)
  }
})
