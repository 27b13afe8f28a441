import { expect, test } from 'vitest'
import { GatewayCalls, type GatewayReply } from '../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../src/contract/index.ts'
import { type Command, fault, type LinkEvent } from '../../src/model/index.ts'

type CommandReply = Extract<LinkEvent, { type: 'command-reply' }>

const REFUSED = fault('invalid-request', 'No.')

/** Calls, the commands that they sent, and the answers that came back. */
function drive() {
  const sent: [Command, Answer | undefined][] = []
  const replies: [number, GatewayReply, string][] = []
  const ports = {
    newId: () => `e${sent.length + 1}`,
    command: (...[one, answer]) => void sent.push([one, answer]),
  } as FrontPorts
  const calls = new GatewayCalls(ports)
  const take = (call: number) => (reply: GatewayReply, exchange: string) => void replies.push([call, reply, exchange])
  const reply = (exchange: string, more: Partial<CommandReply>): boolean =>
    calls.answer({ turn: null, type: 'command-reply', exchange, ...more })
  return { calls, sent, replies, take, reply }
}

test('each command is sent with an exchange of its own, about a session or none', () => {
  const { calls, sent, take } = drive()
  calls.ask({ type: 'query', what: 'models' }, 's', take(1))
  calls.ask({ type: 'query', what: 'agents' }, undefined, take(2))
  const answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }
  expect(sent).toEqual([
    [{ exchange: 'e1', session: { id: 's' }, type: 'query', what: 'models' }, answer],
    [{ exchange: 'e2', type: 'query', what: 'agents' }, answer],
  ])
})

test('each answer or failure goes to its command once, with its exchange, and others to none', () => {
  const { calls, replies, take, reply } = drive()
  calls.ask({ type: 'config-set', model: 'm' }, 's', take(1))
  calls.ask({ type: 'config-set', model: 'n' }, 's', take(2))
  calls.ask({ type: 'config-set', model: 'o' }, 's', take(3))
  const ext = { protocol: 'p', json: '{}' }
  expect([reply('e2', { data: '{"a":1}', ext }), reply('e2', {}), reply('other', {})]).toEqual([true, false, false])
  expect(calls.idle).toBe(false)
  expect([reply('e1', { fault: REFUSED }), calls.fail('e3', REFUSED), calls.fail('e3', REFUSED)]).toEqual([
    true,
    true,
    false,
  ])
  expect(calls.idle).toBe(true)
  expect(replies).toEqual([
    [2, { data: '{"a":1}', ext }, 'e2'],
    [1, { fault: REFUSED }, 'e1'],
    [3, { fault: REFUSED }, 'e3'],
  ])
})
