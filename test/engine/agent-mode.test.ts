import { expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { AgentLink } from '../../src/engine/agent/agent-link.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import { setMode } from '../../src/engine/turn/agent-mode.ts'
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
  return { backend, link, reply, outcome: setMode(link, 'plan', SESSION, 'x') }
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
