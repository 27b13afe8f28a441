import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOfProviderStatus, codeOfProviderText, losesCode } from '../../src/codec-kit/index.ts'
import { fault } from '../../src/model/index.ts'
import { OWN_TEXTS, PROVIDER_TEXTS } from './provider-texts.ts'

test.each(PROVIDER_TEXTS)('%s: %s', (text, code) => {
  expect(codeOfProviderText(text)).toBe(code)
})

test.each(OWN_TEXTS)('no failure of a provider: %s', (text) => {
  expect(codeOfProviderText(text)).toBeUndefined()
})

test.each([
  [400, 'provider-error'],
  [401, 'provider-auth'],
  [402, 'provider-auth'],
  [403, 'provider-auth'],
  [404, 'provider-error'],
  [407, 'provider-auth'],
  [408, 'provider-down'],
  [413, 'payload-too-large'],
  [422, 'provider-error'],
  [429, 'provider-rate-limit'],
  [500, 'provider-down'],
  [529, 'provider-down'],
] as const)('status %i: %s', (status, code) => {
  expect(codeOfProviderStatus(status)).toBe(code)
  const forms = [
    `${status} x`,
    `${status}`,
    `x: ${status} y`,
    `x (${status})`,
    `[${status}] y`,
    `x: http ${status}: y`,
    `HTTP/1.1 ${status} y`,
    `{"status": ${status}, "x": 1}`,
    `statusCode=${status}`,
    `Error code: ${status} - {}`,
    `[API Error: ${status} y]`,
    `[API Error: ${status} y]\nadvice`,
  ]
  for (const form of forms) expect([form, codeOfProviderText(form)]).toEqual([form, code])
})

/** What an agent may write around a provider's text; none of it is a sign of a failure. */
const WRAPPED = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `Retrying in 60s (attempt 1/10): ${text}`,
  (text) => `The model call failed: ${text}`,
  (text) => `${text}\nPlease wait and try again later.`,
  (text) => `${text}\n    at call (main.js:401:12)`,
  (text) => `Error: ${text}.`,
  (text) => `\n  ${text}\r\n`,
  (text) => `${text} (attempt 3 of 3, after 12 s)`,
  (text) => `Error [${text}]`,
)

describe('whatever stands before, after and around it', () => {
  test('the error is the same', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PROVIDER_TEXTS), fc.array(WRAPPED, { maxLength: 3 }), ([text, code], wraps) => {
        expect(codeOfProviderText(wraps.reduce((inner, wrap) => wrap(inner), text))).toBe(code)
      }),
      { numRuns: 1000 },
    )
  })

  test('a text of the agent stays one', () => {
    fc.assert(
      fc.property(fc.constantFrom(...OWN_TEXTS), fc.array(WRAPPED, { maxLength: 3 }), (text, wraps) => {
        expect(codeOfProviderText(wraps.reduce((inner, wrap) => wrap(inner), text))).toBeUndefined()
      }),
    )
  })
})

test.each([
  ['provider-rate-limit', 'HTTP 429', false],
  ['provider-down', 'HTTP 429', true],
  ['provider-auth', 'Something is wrong.', true],
  ['timeout', 'HTTP 429', false],
] as const)('the words of %s, "%s", lose its code: %s', (code, text, lost) => {
  expect(losesCode(fault(code, text))).toBe(lost)
  expect(losesCode(undefined)).toBe(false)
})
