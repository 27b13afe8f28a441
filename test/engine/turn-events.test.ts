import { expect, test } from 'vitest'
import {
  acceptedTurn,
  cancelledTurn,
  failedTurn,
  presented,
  presentedLink,
} from '../../src/engine/events/turn-events.ts'
import { fault, type LinkEvent, type TurnEvent } from '../../src/model/index.ts'

const redact = (text: string): string => text.replaceAll('KEY', '***')

test('a turn ends failed with its reason, or cancelled', () => {
  const why = fault('timeout', 'late')
  expect(failedTurn('t', why)).toEqual({ type: 'turn-end', turn: 't', outcome: 'failed', stop: 'error', fault: why })
  expect(cancelledTurn('t')).toEqual({
    type: 'turn-end',
    turn: 't',
    outcome: 'cancelled',
    stop: 'aborted',
    fault: fault('cancelled', 'The turn was cancelled.'),
  })
})

test('a turn is accepted under the request of its client, where it named one', () => {
  expect(acceptedTurn('t', 'new', 's', 'r')).toEqual({
    type: 'turn-accepted',
    turn: 't',
    how: 'new',
    session: 's',
    request: 'r',
  })
  expect(acceptedTurn('t', 'joined', 's', undefined)).toEqual({
    type: 'turn-accepted',
    turn: 't',
    how: 'joined',
    session: 's',
  })
  const ext = { protocol: 'p', json: '{}' }
  expect(acceptedTurn('t', 'new', 's', undefined, ext)).toMatchObject({ ext })
})

test('a notice and a failure lose the secrets in their words, their own members too', () => {
  const ext = { protocol: 'zot', json: '"KEY"' }
  const clean = { protocol: 'zot', json: '"***"' }
  const notice = { type: 'notice', turn: 't', severity: 'info', code: 'c', text: 'KEY KEY' } as TurnEvent
  expect(presented(notice, { redact })).toEqual({ ...notice, text: '*** ***' })
  const why = fault('agent-crashed', 'bad KEY')
  expect(presented({ ...failedTurn('t', { ...why, ext }), ext }, { redact })).toEqual({
    ...failedTurn('t', { ...fault('agent-crashed', 'bad ***'), ext: clean }),
    ext: clean,
  })
  expect(presented(failedTurn('t', why), { redact })).toEqual(failedTurn('t', fault('agent-crashed', 'bad ***')))
})

test('what is left of the JSON of a failure is JSON', () => {
  const digits = (text: string): string => text.replaceAll('12345678', '***')
  const ext = { protocol: 'zot', json: '{"a":12345678,"b":"\\u0031\\u0032345678","c":1}' }
  expect(presented(failedTurn('t', fault('internal', 'm', { ext })), { redact: digits })).toEqual(
    failedTurn('t', fault('internal', 'm', { ext: { protocol: 'zot', json: '{"a":"***","b":"***","c":1}' } })),
  )
})

test('so do a notice and a failure outside of turns; what was asked for is answered as it is', () => {
  const ext = { protocol: 'zot', json: '{"a":"KEY"}' }
  const clean = { protocol: 'zot', json: '{"a":"***"}' }
  const notice: LinkEvent = { turn: null, type: 'notice', severity: 'info', code: 'c', text: 'KEY' }
  expect(presentedLink(notice, { redact })).toEqual({ ...notice, text: '***' })
  const reply: LinkEvent = { turn: null, type: 'command-reply', exchange: 'x', data: '"KEY"', ext }
  expect(presentedLink(reply, { redact })).toBe(reply)
  const refusal = { ...reply, fault: fault('internal', 'bad KEY', { ext }) }
  const said = { ...reply, fault: fault('internal', 'bad ***', { ext: clean }), ext: clean }
  expect(presentedLink(refusal, { redact })).toEqual(said)
  expect(presentedLink({ ...refusal, ext: undefined }, { redact })).toEqual({ ...said, ext: undefined })
})

test('an answer is not touched', () => {
  const text: TurnEvent = { type: 'text-delta', turn: 't', message: 'm', text: 'KEY' }
  const end: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed', summary: 'KEY' }
  expect(presented(text, { redact })).toBe(text)
  expect(presented(end, { redact })).toBe(end)
})

test.each([
  ['provider-auth', 'Not logged in · Please run /login', 'Not logged in · Please run /login; to log in, type: x login'],
  ['provider-auth', 'No KEY.\n', 'No ***; to log in, type: x login'],
  ['provider-down', 'No KEY.', 'No ***.'],
] as const)('a refusal of credentials ends with the command to type: %s, %j', (code, message, said) => {
  const texts = { redact, login: 'x login' }
  expect(presented(failedTurn('t', fault(code, message)), texts)).toEqual(failedTurn('t', fault(code, said)))
  const reply = { turn: null, type: 'command-reply', exchange: 'x' } as const
  expect(presentedLink({ ...reply, fault: fault(code, message) }, texts)).toEqual({
    ...reply,
    fault: fault(code, said),
  })
})

test('without a known command a refusal of credentials stays as it is', () => {
  const end = failedTurn('t', fault('provider-auth', 'Not logged in.'))
  expect(presented(end, { redact })).toEqual(end)
})
