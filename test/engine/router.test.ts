import { describe, expect, test } from 'vitest'
import type { Route } from '../../src/contract/index.ts'
import type { AgentSettings, EngineSettings } from '../../src/engine/common/settings.ts'
import { chooseAgent, type RouteQuery } from '../../src/engine/dispatch/router.ts'

const agent = (name: string): [string, AgentSettings] => [name, { name } as AgentSettings]
const route = (when: Route['when'], to: string): Route => ({
  when,
  agent: to,
  fallback: [],
  approvals: 'deny',
  loss: 'report',
  busy: 'queue',
  history: 'resume',
  journal: 'full',
  secrets: 'keep',
})
const settings = {
  agents: new Map([agent('helper'), agent('coder'), agent('planner')]),
  default: 'helper',
  routes: [route({ front: 'zene', channel: 'qq_*' }, 'coder'), route({ model: 'big' }, 'planner')],
} as unknown as EngineSettings

function choose(query: Partial<RouteQuery>, start: Record<string, unknown> = {}): string {
  const command = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {}, ...start }
  const choice = chooseAgent(settings, { front: 'zot', command, ...query } as RouteQuery)
  return 'code' in choice ? choice.code : choice.agent.name
}

describe('choosing the agent', () => {
  test.each([
    ['the explicit name', { explicit: 'planner' }, { agent: 'coder' }, 'planner'],
    ['an explicit name that is none', { explicit: 'nobody' }, {}, 'agent-not-found'],
    ["the protocol's own field", {}, { agent: 'coder' }, 'coder'],
    ["the protocol's own field that names none", {}, { agent: 'main' }, 'helper'],
    ['the first matching route', { front: 'zene' }, { session: { channel: 'qq_7' } }, 'coder'],
    [
      'a matching route, in another dialect of its front',
      { front: 'zene@next' },
      { session: { channel: 'qq_7' } },
      'coder',
    ],
    ['a route of another front', { front: 'zot' }, { session: { channel: 'qq_7' } }, 'helper'],
    ['a route by model', {}, { options: { model: 'big' } }, 'planner'],
    ['a key that may not', { explicit: 'coder', allowed: ['helper'] }, {}, 'forbidden'],
    ['a key with a pattern', { explicit: 'coder', allowed: ['c*'] }, {}, 'coder'],
    ['the default', {}, {}, 'helper'],
  ])('%s', (_name, query, start, expected) => {
    expect(choose(query, start)).toBe(expected)
  })

  test.each([
    ['by path, header or argument', { explicit: 'planner' }, {}],
    ["in its protocol's own field", {}, { agent: 'planner' }],
    ['in both ways', { explicit: 'planner' }, { agent: 'coder' }],
    ['for something that starts no turn', { explicit: 'planner' }, { type: 'query', what: 'models' }],
  ])('a route sees the agent that is named %s', (_name, query, start) => {
    const named = { ...route({ agent: 'plan*' }, 'coder'), approvals: 'allow' } as const
    const command = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {}, ...start }
    const choice = chooseAgent({ ...settings, routes: [named] }, { front: 'zot', command, ...query } as RouteQuery)
    expect(choice).toMatchObject({ agent: { name: 'planner' }, route: { approvals: 'allow' } })
  })

  test('without a default there is an error', () => {
    const command = { type: 'query', what: 'health', exchange: 'x' } as const
    const choice = chooseAgent({ ...settings, default: undefined, routes: [] }, { front: 'zot', command })
    expect(choice).toMatchObject({ code: 'agent-not-found' })
  })

  test('the lists of turns and sessions are for every key, whatever the default', () => {
    const commands = [
      ...['turns', 'turn', 'input', 'sessions', 'session'].map((what) => ({
        type: 'query',
        what,
        exchange: 'x',
        args: '{}',
      })),
      { type: 'session-delete', id: 's', exchange: 'x' },
    ] as RouteQuery['command'][]
    for (const command of commands) {
      const query = { front: 'native@resource', allowed: ['coder'], command }
      expect(chooseAgent({ ...settings, default: undefined, routes: [] }, query)).not.toHaveProperty('code')
    }
    const own = { type: 'query', what: 'session', exchange: 'x' } as const
    const choice = chooseAgent({ ...settings, default: undefined, routes: [] }, { front: 'zot', command: own })
    expect(choice).toMatchObject({ code: 'agent-not-found' })
  })
})
