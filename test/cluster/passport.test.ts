import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { Passport } from '../../src/cluster/passport.ts'

const PASSAGE = { method: 'POST', path: '/v1/turns?a=1', caller: '{"tenant":"é"}' }

let now: number
const passport = (...secrets: string[]): Passport => new Passport({ secrets, time: () => now })
const check = (by: Passport, headers: Record<string, string>, { method, path } = PASSAGE): string | undefined =>
  by.check(headers, method, path)

beforeEach(() => {
  now = 1_000_000
})

describe('a passport', () => {
  test('names the client to a replica with the same secret', () => {
    expect(check(passport('s'), passport('s').sign(PASSAGE))).toBe(PASSAGE.caller)
    expect(check(passport('s'), passport('s').sign({ ...PASSAGE, caller: '' }))).toBe('')
  })

  test('is accepted under each secret, and written with the first, so that one can be replaced', () => {
    expect(check(passport('new', 'old'), passport('old').sign(PASSAGE))).toBe(PASSAGE.caller)
    expect(check(passport('new'), passport('new', 'old').sign(PASSAGE))).toBe(PASSAGE.caller)
    expect(check(passport('old'), passport('new', 'old').sign(PASSAGE))).toBeUndefined()
  })

  test('is for one request', () => {
    const headers = passport('s').sign(PASSAGE)
    expect(check(passport('s'), headers, { ...PASSAGE, path: '/v1/other' })).toBeUndefined()
    expect(check(passport('s'), headers, { ...PASSAGE, method: 'GET' })).toBeUndefined()
    const forged = Buffer.from('{"tenant":"root"}').toString('base64url')
    expect(check(passport('s'), { ...headers, 'turnpike-caller': forged })).toBeUndefined()
  })

  test('counts once', () => {
    const [by, headers] = [passport('s'), passport('s').sign(PASSAGE)]
    expect([check(by, headers), check(by, headers)]).toEqual([PASSAGE.caller, undefined])
    now += 29_000
    expect(check(by, headers)).toBeUndefined()
  })

  test('is good for half a minute, whichever clock is ahead', () => {
    const headers = passport('s').sign(PASSAGE)
    for (const [ms, good] of [
      [-30_001, false],
      [-30_000, true],
      [30_000, true],
      [30_001, false],
    ] as const) {
      now = 1_000_000 + ms
      expect(check(passport('s'), headers) !== undefined, String(ms)).toBe(good)
    }
  })

  test('remembers what was used for as long as that is good, and no longer', () => {
    const by = passport('s')
    for (let window = 0; window < 5; window += 1) {
      const headers = passport('s').sign(PASSAGE)
      expect(check(by, headers)).toBe(PASSAGE.caller)
      now += 30_000
      expect(check(by, headers)).toBeUndefined()
      now += 31_000
    }
  })

  test('that is missing or no proof names nobody', () => {
    for (const proof of ['', 'x', '1 2 3', `${now} once `, `NaN once ${'a'.repeat(43)}`]) {
      expect(check(passport('s'), { 'turnpike-replica': proof })).toBeUndefined()
    }
    expect(check(passport('s'), {})).toBeUndefined()
  })
})

test('law: a passport counts once at most, and only while it is fresh, whatever the times and the order', () => {
  const step = fc.record({
    /** Time passes before it, in milliseconds. */
    after: fc.integer({ min: 0, max: 40_000 }),
    /** A new one is made, or one of the last five is shown (again). */
    shows: fc.option(fc.nat(4), { nil: undefined }),
    /** The clock of the other replica is this far ahead. */
    ahead: fc.integer({ min: -30_000, max: 30_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const by = passport('s')
      const made: { headers: Record<string, string>; at: number; used: boolean }[] = []
      for (const { after, shows, ahead } of steps) {
        now += after
        if (shows === undefined) {
          const at = now + ahead
          const other = new Passport({ secrets: ['s'], time: () => at })
          made.push({ headers: other.sign(PASSAGE), at, used: false })
          continue
        }
        const one = made.at(-1 - shows)
        if (!one) continue
        const counts = !one.used && Math.abs(now - one.at) <= 30_000
        expect(check(by, one.headers) !== undefined).toBe(counts)
        one.used ||= counts
      }
    }),
  )
})

test('a passport has a nonce of 12 bytes, and none is made twice', () => {
  const nonces = Array.from({ length: 50 }, () => passport('s').sign(PASSAGE)['turnpike-replica']!.split(' ')[1]!)
  expect(new Set(nonces).size).toBe(50)
  for (const nonce of nonces) expect(Buffer.from(nonce, 'base64url')).toHaveLength(12)
})

test('a passport that another one has signed with part of a secret, or a longer one, is no proof', () => {
  for (const secret of ['', 'secre', 'secret ', 'SECRET'])
    expect(check(passport('secret'), passport(secret).sign(PASSAGE))).toBeUndefined()
})
