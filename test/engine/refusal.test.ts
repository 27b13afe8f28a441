import { describe, expect, test } from 'vitest'
import { capabilities, type FrontDialect, type Route } from '../../src/contract/index.ts'
import { refusalFor } from '../../src/engine/carry/refusal.ts'
import { keepsSecret, withoutSecret } from '../../src/engine/carry/secrets.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import type { Command, Item, Loss, TurnStart } from '../../src/model/index.ts'

const REMOTE = 'https://agents.example/run'
const TEXT: readonly Item[] = ['turn-start', 'part.text', 'text-delta', 'message-start', 'message-end', 'turn-end']

function agent(target: AgentSettings['target'], ...full: Item[]): AgentSettings {
  return {
    name: 'writer',
    target,
    dialect: { back: { capabilities: capabilities({ full: [...TEXT, ...full] }) } },
  } as unknown as AgentSettings
}

const front = { front: { capabilities: capabilities({ full: [...TEXT, 'start.environment'] }) } } as FrontDialect
const route = (more: Partial<Route>): Route => ({ secrets: 'keep', loss: 'report', ...more }) as Route
const secret = { privacy: 'secret', json: '{"key":1}' } as const
const start = (more: Partial<TurnStart> = {}): Command & TurnStart => ({
  exchange: 'x',
  type: 'turn-start',
  turn: 't',
  task: 'prompt',
  input: [{ type: 'text', text: 'hi' }],
  options: {},
  ...more,
})

describe('secret surroundings', () => {
  const far = agent({ kind: 'http', url: REMOTE }, 'start.environment')

  test.each<[string, boolean, AgentSettings, Partial<TurnStart>, Partial<Route>]>([
    ['an agent on another machine', true, far, { environment: secret }, {}],
    [
      'an agent on this machine',
      false,
      agent({ kind: 'http', url: 'http://127.0.0.1:1/' }, 'start.environment'),
      { environment: secret },
      {},
    ],
    [
      'an agent on this machine, by IPv6',
      false,
      agent({ kind: 'http', url: 'http://[::1]:1/' }, 'start.environment'),
      { environment: secret },
      {},
    ],
    ['a process', false, agent({ kind: 'process', command: 'x' }, 'start.environment'), { environment: secret }, {}],
    ['an agent without a place for them', false, agent({ kind: 'http', url: REMOTE }), { environment: secret }, {}],
    ['any agent of a route that passes secrets', false, far, { environment: secret }, { secrets: 'pass' }],
    ['any agent when they are public', false, far, { environment: { ...secret, privacy: 'public' } }, {}],
    ['any agent when there are none', false, far, {}, {}],
  ])('of %s are kept: %s', (_who, kept, to, more, by) => {
    const losses: Loss[] = []
    const command = start(more)
    expect(keepsSecret(command, to, route(by))).toBe(kept)
    const told = withoutSecret(command, to, route(by), (loss) => losses.push(loss))
    expect(told).toEqual(kept ? start() : command)
    expect(losses).toEqual(kept ? [{ kind: 'dropped', item: 'start.environment', why: 'policy', count: 1 }] : [])
  })
})

describe('an agent is refused', () => {
  const local = { kind: 'process', command: 'x' } as const

  test('when it is to compact and cannot, on any route', () => {
    const compact = start({ task: 'compact' })
    expect(refusalFor(front, compact, agent(local), route({}))).toMatchObject({
      code: 'invalid-request',
      message: 'The agent "writer" cannot compact its conversation.',
    })
    expect(refusalFor(front, compact, agent(local, 'start.compact'), route({}))).toBeUndefined()
  })

  test('on a strict route alone, for what it would lose', () => {
    const lossy = start({ options: { model: 'm' } })
    expect(refusalFor(front, lossy, agent(local), route({}))).toBeUndefined()
    expect(refusalFor(front, lossy, agent(local), route({ loss: 'strict' }))?.code).toBe('lossy-refused')
    expect(refusalFor(front, start(), agent(local), route({ loss: 'strict' }))).toBeUndefined()
  })

  test('on a strict route when a secret is kept from it', () => {
    const command = start({ environment: secret })
    const far = agent({ kind: 'http', url: REMOTE }, 'start.environment')
    const said = refusalFor(front, command, far, route({ loss: 'strict' }))
    expect([said?.code, said?.message]).toEqual([
      'lossy-refused',
      'This route takes no losses, and surroundings that are called secret are kept from agents on other machines. ' +
        'Leave them out, choose another agent, or set "secrets: pass" on the route.',
    ])
  })
})
