import { expect, test } from 'vitest'
import { cookieHeader, isOwnPage, loginOf } from '../../routes/cookie.ts'
import { Logins } from '../../routes/logins.ts'

const HOUR = 3600_000

test('a login stands for its key for twelve hours, or until it is ended', () => {
  let now = 0
  const logins = new Logins(() => now)
  const [first, second] = [logins.begin('aa'), logins.begin('bb')]
  expect(first).toMatch(/^[\w-]{43}$/)
  expect([logins.keyOf(first), logins.keyOf(second), logins.keyOf('')]).toEqual(['aa', 'bb', undefined])
  logins.end(second)
  now = 12 * HOUR - 1
  expect([logins.keyOf(first), logins.keyOf(second)]).toEqual(['aa', undefined])
  now += 1
  expect(logins.keyOf(first)).toBeUndefined()
})

test('a thousand logins are remembered, the newest ones', () => {
  const logins = new Logins(() => 0)
  const ids = Array.from({ length: 1_001 }, () => logins.begin('aa'))
  expect(ids.map((id) => logins.keyOf(id)).lastIndexOf(undefined)).toBe(0)
})

const OWN = { host: 'gateway.example:8484' }

test.each([
  ['the page itself', 'POST', { ...OWN, 'sec-fetch-site': 'same-origin' }, true],
  [
    'the page itself, which also says its origin',
    'POST',
    { ...OWN, 'sec-fetch-site': 'same-origin', origin: 'https://gateway.example:8484' },
    true,
  ],
  [
    'the page itself in a browser that only says its origin',
    'POST',
    { ...OWN, origin: 'http://gateway.example:8484' },
    true,
  ],
  ['a request that changes nothing and says nothing', 'GET', OWN, true],
  ['its head', 'HEAD', OWN, true],
  ['a request that changes something and says nothing', 'POST', OWN, false],
  ['a deletion that says nothing', 'DELETE', OWN, false],
  ['a page on another port', 'GET', { ...OWN, 'sec-fetch-site': 'same-site' }, false],
  ['a page elsewhere', 'POST', { ...OWN, 'sec-fetch-site': 'cross-site' }, false],
  ['a link that somebody typed or followed', 'GET', { ...OWN, 'sec-fetch-site': 'none' }, false],
  ['another origin', 'POST', { ...OWN, origin: 'http://gateway.example' }, false],
  [
    'another origin that claims to be the same',
    'POST',
    { ...OWN, 'sec-fetch-site': 'same-origin', origin: 'http://evil.example' },
    false,
  ],
  ['no origin', 'POST', { ...OWN, origin: 'null' }, false],
])('%s: %s %o is %s', (_name, method, headers, own) => {
  expect(isOwnPage(headers, method)).toBe(own)
  expect(loginOf({ ...headers, cookie: 'theme=dark; turnpike=abc; x=y' }, method)).toBe(own ? 'abc' : undefined)
})

test('cookies of others are no login', () => {
  for (const cookie of ['', 'turnpike2=abc', 'xturnpike=abc', 'turnpike'])
    expect(loginOf({ cookie }, 'GET')).toBeUndefined()
})

test('the cookie is for this host alone, and for TLS where there is some', () => {
  expect(cookieHeader({ origin: 'http://localhost:8484' }, 'abc')).toBe(
    'turnpike=abc; Path=/; HttpOnly; SameSite=Strict',
  )
  expect(cookieHeader({ origin: 'https://gateway.example' }, 'abc')).toBe(
    'turnpike=abc; Path=/; HttpOnly; SameSite=Strict; Secure',
  )
  expect(cookieHeader({}, undefined)).toBe('turnpike=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0')
})
