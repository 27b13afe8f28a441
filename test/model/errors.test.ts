import { expect, test } from 'vitest'
import type { AskOption } from '../../src/model/index.ts'
import { ERROR_CODES, type ErrorCode, fault, ITEMS, isRetryable, narrowestOption } from '../../src/model/index.ts'

const RETRYABLE: readonly ErrorCode[] = [
  'session-busy',
  'overloaded',
  'timeout',
  'agent-unavailable',
  'provider-rate-limit',
  'provider-down',
]

test('an error may pass by itself or not, whatever is said about it', () => {
  expect(ERROR_CODES.filter(isRetryable).sort()).toEqual([...RETRYABLE].sort())
  for (const code of ERROR_CODES) {
    expect(fault(code, 'M.')).toEqual({ code, message: 'M.', retryable: RETRYABLE.includes(code) })
  }
})

test('a fault may be said to be otherwise, and have more members', () => {
  expect(fault('timeout', 'M.', { retryable: false })).toEqual({ code: 'timeout', message: 'M.', retryable: false })
  expect(fault('internal', 'M.', { retryable: true, retryAfterMs: 5 })).toEqual({
    code: 'internal',
    message: 'M.',
    retryable: true,
    retryAfterMs: 5,
  })
})

test('codes and items are listed once, in words with hyphens and full stops', () => {
  expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length)
  expect(new Set(ITEMS).size).toBe(ITEMS.length)
  for (const code of ERROR_CODES) expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
  for (const item of ITEMS) expect(item).toMatch(/^[a-z]+(-[a-z]+)*(\.[a-zA-Z]+(-[a-z]+)*)?$/)
})

const option = (id: string, kind: AskOption['kind'], scope: AskOption['scope']): AskOption => ({ id, kind, scope })

test.each<[string, AskOption[], AskOption['kind'], string | undefined]>([
  ['nothing', [], 'allow', undefined],
  ['none of the kind', [option('a', 'deny', 'once')], 'allow', undefined],
  ['the one for this once', [option('a', 'allow', 'always'), option('b', 'allow', 'once')], 'allow', 'b'],
  ['the first of several for this once', [option('a', 'deny', 'once'), option('b', 'deny', 'once')], 'deny', 'a'],
  ['the first of the kind', [option('a', 'allow', 'session'), option('b', 'allow', 'always')], 'allow', 'a'],
])('the option that decides the least of %s', (_, options, kind, id) => {
  expect(narrowestOption(options, kind)?.id).toBe(id)
})
