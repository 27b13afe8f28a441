import { describe, expect, test } from 'vitest'
import { type StartRequest, startCommand } from '../../src/codec-kit/request-start.ts'
import type { Message } from '../../src/model/index.ts'

const REQUEST: StartRequest = {
  agent: '',
  input: [{ type: 'text', text: 'Hi.' }],
  history: [],
  options: {},
  tools: [],
  session: undefined,
  ext: undefined,
}
const PLAIN = {
  exchange: 'x1',
  type: 'turn-start',
  turn: 't1',
  task: 'prompt',
  input: REQUEST.input,
  options: {},
  historyMode: 'complete',
}
const SAID: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'Before.' }] }]

const start = (request: Partial<StartRequest>, headers: Record<string, string> = {}) =>
  startCommand({ ...REQUEST, ...request }, headers, 'x1', 't1')

test('a plain request has nothing that it does not say', () => {
  expect(start({})).toEqual(PLAIN)
})

test.each<[Partial<StartRequest>, object]>([
  [{ agent: 'coder' }, { agent: 'coder' }],
  [{ history: SAID }, { history: SAID }],
  [{ options: { model: 'm' } }, { options: { model: 'm' } }],
  [{ tools: [{ name: 'f' }] }, { clientTools: [{ name: 'f' }] }],
  [{ ext: { protocol: 'p', json: '{}' } }, { ext: { protocol: 'p', json: '{}' } }],
])('%j becomes %j', (request, members) => {
  expect(start(request)).toEqual({ ...PLAIN, ...members })
})

describe('the session', () => {
  test.each<[Partial<StartRequest>, Record<string, string>, object]>([
    [{ session: 'own' }, {}, { session: { id: 'own' } }],
    [{ session: 'own', conversation: 'c' }, {}, { session: { id: 'c' }, historyMode: 'delta' }],
    [
      { session: 'own', conversation: 'c' },
      { 'turnpike-session': 'h' },
      { session: { id: 'h' }, historyMode: 'delta' },
    ],
    [{ session: 'own' }, { 'turnpike-session': '' }, { historyMode: 'delta' }],
    [{ session: '' }, {}, {}],
  ])('of %j with headers %j', (request, headers, members) => {
    expect(start(request, headers)).toEqual({ ...PLAIN, ...members })
  })
})

describe('the history', () => {
  test.each<[string, Partial<StartRequest>, Record<string, string>, 'delta' | 'complete']>([
    ['is complete without a session', { history: SAID }, {}, 'complete'],
    ['is complete with a session of its own kind', { history: SAID, session: 's' }, {}, 'complete'],
    ['is complete when a named session has it anyway', { history: SAID }, { 'turnpike-session': 's' }, 'complete'],
    ['is left to a named session', {}, { 'turnpike-session': 's' }, 'delta'],
    ['adds to the turn that it follows', { history: SAID, after: 't0' }, {}, 'delta'],
    ['adds to its conversation', { history: SAID, conversation: 'c' }, {}, 'delta'],
  ])('%s', (_, request, headers, mode) => {
    expect(start(request, headers).historyMode).toBe(mode)
  })

  test('names the turn that it follows', () => {
    expect(start({ after: 't0' }).after).toBe('t0')
  })
})

describe('headers', () => {
  test.each<[Record<string, string>, object]>([
    [{ 'x-request-id': 'r' }, { request: 'r' }],
    [{ 'x-client-request-id': 'c' }, { request: 'c' }],
    [{ 'x-request-id': 'r', 'x-client-request-id': 'c' }, { request: 'r' }],
    [{ 'idempotency-key': 'k' }, { once: { key: 'k', scope: 'tenant', duplicate: 'join', replay: 'success' } }],
    [{ 'idempotency-key': '' }, {}],
    [{ 'x-stainless-retry-count': '0' }, {}],
    [{ 'x-stainless-retry-count': '2' }, { retry: true }],
    [{ 'x-stainless-retry-count': 'two' }, {}],
  ])('%j become %j', (headers, members) => {
    expect(start({}, headers)).toEqual({ ...PLAIN, ...members })
  })
})
