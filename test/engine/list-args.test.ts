import { expect, test } from 'vitest'
import { sessionsArgs, turnsArgs } from '../../src/engine/dispatch/list-args.ts'

test.each([
  [undefined, { limit: 200 }],
  ['{}', { limit: 200 }],
  ['{"limit":3,"follow":true,"all":true}', { limit: 3, follow: true, all: true }],
  ['{"follow":1,"all":"yes","other":[]}', { limit: 200 }],
  ['{"agent":"","q":"x","state":""}', { limit: 200, q: 'x' }],
  [
    '{"agent":"a","front":"f","back":"b","session":"s","state":"failed","key":"k","q":"q","before":"t"}',
    { limit: 200, agent: 'a', front: 'f', back: 'b', session: 's', state: 'failed', key: 'k', q: 'q', before: 't' },
  ],
])('the args %s of a list of turns are read', (args, read) => {
  expect(turnsArgs(args)).toEqual(read)
})

test.each([
  ['no json', 'they are not a JSON object'],
  ['[]', 'they are not a JSON object'],
  ['{"limit":0}', '"limit" is not a number from 1 to 200'],
  ['{"limit":201}', '"limit" is not a number from 1 to 200'],
  ['{"limit":"many"}', '"limit" is not a number from 1 to 200'],
  ['{"agent":1}', '"agent" is not a text'],
  ['{"state":"over"}', '"state" is not one of running, completed, failed, cancelled'],
])('the args %s are refused', (args, why) => {
  const fault = { code: 'invalid-request', message: `The arguments of the list cannot be read: ${why}.` }
  expect(turnsArgs(args)).toMatchObject(fault)
  expect(sessionsArgs(args)).toMatchObject(fault)
})

test('a list of sessions has fewer', () => {
  const all = '{"all":true,"agent":"a","front":"f","back":"b","session":"s","state":"failed","key":"k","q":"q"}'
  expect(sessionsArgs(all)).toEqual({ limit: 200, all: true, agent: 'a', key: 'k', q: 'q' })
})

test.each([1, 200])('a page may have %i rows', (limit) => {
  expect(turnsArgs(JSON.stringify({ limit }))).toEqual({ limit })
})

test('a page has whole rows', () => {
  expect(turnsArgs('{"limit":1.5}')).toMatchObject({ code: 'invalid-request' })
})
