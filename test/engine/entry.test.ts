import { describe, expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { entryOf, infoOf, keyed, principalOf, sessionKey } from '../../src/engine/dispatch/entry.ts'
import { ITEMS } from '../../src/model/index.ts'
import { entryFor } from '../kit/engine-parts.ts'
import { plainAgent, ROUTE, start } from '../kit/plain.ts'

const agent = plainAgent('')

/** The entry of a command for the agent. */
function entered(command = start(), of = agent) {
  const { entry } = entryFor(of, { command })
  return entryOf(entry.client, command, { agent: of, route: entry.route }, entry.exchange)
}

describe('a request on its way in', () => {
  test('has a session, its own or one of the gateway’s', () => {
    expect(entered()).toMatchObject({ command: { session: { id: 's' } } })
    const command = start()
    delete command.session
    const made = entered(command)
    expect('command' in made && made.command.session?.id).toMatch(/^[\w-]{10,}$/)
  })

  test.each([
    ['plain', 'plain', {}],
    ['plain', 'big', { model: 'big' }],
    ['other', 'other', { model: 'other' }],
  ] as const)('that names the agent %s by the model %s has the options %j', (named, model, options) => {
    expect(entered(start({ agent: named, options: { model } }))).toMatchObject({ command: { options } })
  })

  test('names its folder where its agent works elsewhere', () => {
    const process = { command: 'x', env: {}, cwd: '/here' }
    const local = plainAgent('', { context: { ...agent.context, process } })
    expect(entered(start({ cwd: '/work' }), local)).toMatchObject({ command: { cwd: '/work' } })
    const here = entered(start({ cwd: '/here' }), local)
    expect('command' in here && here.command).not.toHaveProperty('cwd')
    const movable = { context: { ...agent.context, process }, workspaces: ['/'] }
    const told = entered(start({ cwd: '/work' }), plainAgent('', movable))
    expect('command' in told && told.command).toHaveProperty('cwd')
    const mute = capabilities({ full: ITEMS.filter((item) => item !== 'start.cwd') })
    const moved = entered(start({ cwd: '/work' }), plainAgent('', movable, { able: mute }))
    expect('command' in moved && moved.command).not.toHaveProperty('cwd')
  })

  test('that its agent cannot take is refused', () => {
    const weak = plainAgent('', {}, { able: capabilities({ full: ['turn-start', 'part.text'] }) })
    expect(entered(start({ task: 'compact' }), weak)).toMatchObject({ code: 'invalid-request' })
  })
})

test('the session of a request is its tenant’s, on the agent that takes it', () => {
  const { entry } = entryFor(agent, { command: start({ session: { id: 's', conversation: 'c' } }) })
  const other = plainAgent('', { name: 'other' })
  expect(sessionKey(entry, other)).toEqual({ tenant: 'local', agent: 'other', session: 's', conversation: 'c' })
})

test('a key is of one protocol, session and conversation, and of the agent that was chosen', () => {
  const { entry } = entryFor(agent)
  expect(keyed(entry)).toEqual({ scope: '["local","plain","s",""]', agent: 'plain', command: entry.command })
})

test.each([
  [{ session: { id: 's', conversation: 'c' } }, '["local","plain","s","c"]', { id: 's', conversation: 'c' }],
  [{ session: { channel: 'x' } }, '["local","plain","t",""]', { channel: 'x' }],
  [{}, '["local","plain","t",""]', undefined],
  [{ session: { id: 's' }, scope: 'tenant' }, '["local","plain"]', { id: 's' }],
  [{ scope: 'tenant' }, '["local","plain"]', undefined],
] as const)('a key with %j is one of %s', (how: { session?: object; scope?: 'tenant' }, scope, session) => {
  const { session: _, ...rest } = start()
  const once = { key: 'k', duplicate: 'join', replay: 'success', ...(how.scope && { scope: how.scope }) } as const
  const made = entered({ ...rest, once, ...(how.session && { session: how.session }) })
  if ('code' in made) throw new Error(made.message)
  expect(keyed(made)).toMatchObject({ scope, command: { once } })
  expect(keyed(made).command.session).toEqual(session)
})

test.each([
  [{}, undefined, true],
  [{ journal: 'shape' }, undefined, false],
  [{}, { privacy: 'public', json: '{}' }, true],
  [{}, { privacy: 'secret', json: '{}' }, false],
] as const)('on the route %j, with the environment %j, observers get the content: %s', (route, environment, given) => {
  const options = { model: 'm', systemPrompt: 'be kind' }
  const command = start({ options, ...(environment && { environment }) })
  const { entry } = entryFor(agent, { command, route: { ...route, when: { channel: 'a', front: 'b*' } } })
  expect(infoOf(entry, plainAgent('', { name: 'taker', protocol: 'zot' }))).toEqual({
    turn: 't',
    agent: 'taker',
    back: 'zot',
    place: expect.stringMatching(/^[0-9a-f]{16}$/),
    session: 's',
    model: 'm',
    route: 'channel=a,front=b*',
    ...(given && { content: { input: command.input, systemPrompt: 'be kind' } }),
  })
})

test('observers are told no route where none has a condition', () => {
  const { entry } = entryFor(agent, { route: ROUTE })
  expect(infoOf(entry, agent).route).toBeUndefined()
})

test('who answers is the principal, else the tenant', () => {
  const { client } = entryFor(agent).entry
  expect(principalOf(client)).toBe('client local')
  client.options.context = { ...client.options.context, principal: 'me' }
  expect(principalOf(client)).toBe('client me')
})
