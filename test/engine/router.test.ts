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

describe('a refusal', () => {
  const command = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {} } as const
  const many = (count: number): EngineSettings =>
    ({ agents: new Map(Array.from({ length: count }, (_, at) => agent(`a${at}`))), routes: [] }) as never
  const message = (of: EngineSettings, query: Partial<RouteQuery>): string => {
    const choice = chooseAgent(of, { front: 'zot', command, ...query })
    return 'code' in choice ? `${choice.code}: ${choice.message}` : choice.agent.name
  }

  test('of a name says which agents there are for this key', () => {
    expect(message(settings, { explicit: 'nobody' })).toBe(
      'agent-not-found: There is no agent "nobody"; there are: helper, coder, planner.',
    )
    expect(message(settings, { explicit: 'nobody', allowed: ['c*', 'p*'] })).toBe(
      'agent-not-found: There is no agent "nobody"; there are: coder, planner.',
    )
  })

  test.each([
    [19, ''],
    [20, ''],
    [21, ' and 1 more'],
    [40, ' and 20 more'],
  ])('of a name, of %i agents, names 20 at most%s', (count, rest) => {
    const names = Array.from({ length: Math.min(count, 20) }, (_, at) => `a${at}`).join(', ')
    expect(message(many(count), { explicit: 'nobody' })).toBe(
      `agent-not-found: There is no agent "nobody"; there are: ${names}${rest}.`,
    )
  })

  test('says what the key may not use, and that nothing leads to an agent', () => {
    expect(message(settings, { explicit: 'coder', allowed: ['helper'] })).toBe(
      'forbidden: This key may not use the agent "coder".',
    )
    expect(message(many(2), {})).toBe(
      'agent-not-found: No route matches this request and no default agent is configured; name an agent.',
    )
  })

  test('comes before the default for a protocol whose requests name their agent', () => {
    expect(choose({ namesAgents: true }, { agent: 'nobody' })).toBe('agent-not-found')
    expect(choose({ namesAgents: true }, { agent: 'coder' })).toBe('coder')
    expect(choose({ namesAgents: true }, {})).toBe('helper')
    expect(choose({ namesAgents: false }, { agent: 'nobody' })).toBe('helper')
  })
})

describe('the route of a request', () => {
  const routed = (query: Partial<RouteQuery>, command: object = {}) => {
    const start = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {}, ...command }
    const choice = chooseAgent(settings, { front: 'zot', command: start, ...query } as RouteQuery)
    return 'code' in choice ? choice.code : choice.route
  }

  test('that none matches is a plain one of its agent', () => {
    expect(routed({})).toEqual(route({}, 'helper'))
    expect(routed({ explicit: 'coder' })).toEqual(route({}, 'coder'))
  })

  test('keeps its policies for the agent that is named otherwise', () => {
    expect(routed({ explicit: 'helper' }, { options: { model: 'big' } })).toBe(settings.routes[1])
  })

  test('of a command about sessions is a plain one of the first agent', () => {
    for (const command of [
      { type: 'session-delete', id: 's' },
      { type: 'session-fork', id: 's' },
      { type: 'query', what: 'agents' },
    ])
      expect(routed({ explicit: 'planner' }, command)).toEqual(route({}, 'helper'))
  })

  test('of a query with args that is of one agent goes to that', () => {
    expect(routed({ explicit: 'planner' }, { type: 'query', what: 'models', args: '{}' })).toEqual(route({}, 'planner'))
  })

  test.each([
    ['its principal', { principal: 'ann' }, {}, { principal: 'a*' }],
    ['its session', {}, { session: { id: 'chat-7' } }, { session: 'chat-*' }],
    [
      'its channel and its model',
      {},
      { session: { channel: 'qq' }, options: { model: 'x' } },
      { channel: 'qq', model: 'x' },
    ],
  ])('is found by %s', (_what, query, more, when) => {
    const routes = [route(when as Route['when'], 'coder')]
    const command = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {}, ...more }
    const of = (facts: object) =>
      chooseAgent({ ...settings, routes }, { front: 'zot', command, ...facts } as never) as { agent: AgentSettings }
    expect(of(query).agent.name).toBe('coder')
    const bare = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {} }
    expect(of({ command: bare }).agent.name).toBe('helper')
  })
})
