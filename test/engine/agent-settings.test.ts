import { expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { AgentLink } from '../../src/engine/agent/agent-link.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import { missingSettings, setAgent } from '../../src/engine/turn/agent-settings.ts'
import { ITEMS } from '../../src/model/index.ts'
import { ALL, plainAgent, plainBack } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

const SESSION = { names: { id: 's' }, bound: 'its id', settings: {} }

/** A ready agent, and the outcome of its being set to the mode "plan". */
function setting(able = ALL) {
  const backend = new ScriptedBackend()
  const agent = plainAgent('', { backend, dialect: plainBack({ persistent: true, able }) })
  const link = new AgentLink(agent, SILENT_SCOPE, { idleEvent() {}, callFailed() {} })
  backend.call.say('{"turn":null,"type":"agent-ready"}\n')
  const reply = (more: object): void =>
    backend.call.say(`${JSON.stringify({ turn: null, type: 'command-reply', exchange: 'x', ...more })}\n`)
  return { backend, link, reply, outcome: setAgent(link, { mode: 'plan' }, SESSION, 'x') }
}

test('an agent that takes the mode keeps it', async () => {
  const { backend, link, reply, outcome } = setting()
  expect(JSON.parse(backend.call.written[0]!)).toEqual({
    type: 'config-set',
    exchange: 'x',
    session: { id: 's', bound: 'its id' },
    mode: 'plan',
  })
  reply({})
  expect([await outcome, link.mode]).toEqual([undefined, 'plan'])
})

test('an agent that refuses the mode refuses the turn', async () => {
  const { link, reply, outcome } = setting()
  reply({ fault: { code: 'invalid-request', message: 'unknown', retryable: false } })
  expect(await outcome).toMatchObject({
    code: 'invalid-request',
    message: 'The agent "plain" cannot be set to the mode "plan" that its client has set (unknown); set another mode.',
  })
  expect(link.mode).toBeUndefined()
})

test('an agent whose protocol has no word for modes is not asked', async () => {
  const { backend, link, outcome } = setting(capabilities({ full: ITEMS.filter((item) => item !== 'config-set') }))
  expect(await outcome).toMatchObject({
    code: 'invalid-request',
    message: 'The agent "plain" cannot be set to the mode "plan" that its client has set; set another mode.',
  })
  expect([backend.call.written, link.mode]).toEqual([[], undefined])
})

test('an agent that goes meanwhile leaves its absence to the turn', async () => {
  const { backend, link, outcome } = setting()
  backend.call.end({ why: 'closed', exitCode: 1 })
  expect([await outcome, link.mode, link.dead]).toEqual([undefined, undefined, true])
})

test('an option is set once, and again when its value is another one', async () => {
  const { link, reply, outcome, backend } = setting()
  reply({})
  await outcome
  const wanted = { mode: 'plan', options: { web: true, effort: 'high' } }
  expect(missingSettings(link, wanted)).toEqual([
    { option: { id: 'web', value: true } },
    { option: { id: 'effort', value: 'high' } },
  ])
  const set = setAgent(link, { option: { id: 'web', value: true } }, SESSION, 'x')
  expect(JSON.parse(backend.call.written[1]!)).toMatchObject({ option: { id: 'web', value: true } })
  reply({})
  expect([await set, link.mode, link.options]).toEqual([undefined, 'plan', { web: true }])
  expect(missingSettings(link, { ...wanted, options: { web: true } })).toEqual([])
  expect(missingSettings(link, { mode: 'ask', options: { web: false } })).toEqual([
    { mode: 'ask' },
    { option: { id: 'web', value: false } },
  ])
  const refused = setAgent(link, { option: { id: 'web', value: false } }, SESSION, 'x')
  reply({ fault: { code: 'invalid-request', message: 'no', retryable: false } })
  expect((await refused)?.message).toBe(
    'The agent "plain" cannot be set to the value of "web" that its client has set (no); set another value.',
  )
})
