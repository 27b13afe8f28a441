import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Gate } from '../../routes/gate.ts'
import { Limiter, type Rate } from '../../routes/limiter.ts'

const RATE: Rate = { perMinute: 60, burst: 3 }

function limiter(most?: number) {
  const clock = { now: 0 }
  return { clock, made: new Limiter(() => clock.now, most) }
}

describe('a rate', () => {
  test('lets a burst through, then one for each earned token', () => {
    const { clock, made } = limiter()
    expect([1, 2, 3].map(() => made.take('a', RATE))).toEqual([0, 0, 0])
    expect(made.take('a', RATE)).toBe(1)
    clock.now = 999
    expect(made.take('a', RATE)).toBe(1)
    clock.now = 1000
    expect([made.take('a', RATE), made.take('a', RATE)]).toEqual([0, 1])
  })

  test('is that of each name alone', () => {
    const { made } = limiter()
    for (let n = 0; n < 3; n++) made.take('a', RATE)
    expect([made.take('a', RATE), made.take('b', RATE)]).toEqual([1, 0])
  })

  test('collects no more than its burst', () => {
    const { clock, made } = limiter()
    made.take('a', RATE)
    clock.now = 3_600_000
    expect([1, 2, 3, 4].map(() => made.take('a', RATE))).toEqual([0, 0, 0, 1])
  })

  test('can be asked for without being used', () => {
    const { made } = limiter()
    for (let n = 0; n < 9; n++) expect(made.wait('a', RATE)).toBe(0)
    expect(made.size).toBe(0)
    for (let n = 0; n < 3; n++) made.take('a', RATE)
    expect(made.wait('a', RATE)).toBe(1)
  })

  test('keeps its word: after the wait there is a token, and a second before there is none', () => {
    const rate = fc.record({ perMinute: fc.integer({ min: 1, max: 600 }), burst: fc.integer({ min: 1, max: 5 }) })
    fc.assert(
      fc.property(rate, fc.array(fc.nat(5000), { maxLength: 30 }), (given, pauses) => {
        const { clock, made } = limiter()
        for (const pause of pauses) {
          clock.now += pause
          made.take('a', given)
        }
        const wait = made.wait('a', given)
        clock.now += 1000 * wait
        expect(made.wait('a', given)).toBe(0)
        if (wait < 2) return
        clock.now -= 1001
        expect(made.wait('a', given)).toBeGreaterThan(0)
      }),
    )
  })

  test('lets through no more than its burst and what was earned, over any time', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000), { minLength: 1, maxLength: 60 }), (pauses) => {
        const { clock, made } = limiter()
        let passed = 0
        for (const pause of pauses) {
          clock.now += pause
          if (made.take('a', RATE) === 0) passed += 1
        }
        expect(passed).toBeLessThanOrEqual(RATE.burst + clock.now / 1000)
      }),
    )
  })
})

describe('names', () => {
  test('are forgotten with what they have taken', () => {
    const rate = { perMinute: 60, burst: 2 }
    const limiter = new Limiter(() => 0, 2)
    for (const name of ['a', 'b', 'b', 'c']) limiter.take(name, rate)
    expect(Object.fromEntries(limiter.taken)).toEqual({ b: 2, c: 1 })
    limiter.keep(['c'])
    expect(Object.fromEntries(limiter.taken)).toEqual({ c: 1 })
  })

  test('are forgotten from the oldest on when there are too many', () => {
    const { made } = limiter(2)
    for (let n = 0; n < 3; n++) made.take('a', RATE)
    made.take('b', RATE)
    made.take('c', RATE)
    expect(made.size).toBe(2)
    expect(made.take('a', RATE)).toBe(0)
  })

  test('are kept over a reload when they are still there', () => {
    const { made } = limiter()
    for (const name of ['a', 'b']) for (let n = 0; n < 3; n++) made.take(name, RATE)
    made.keep(['b', 'new'])
    expect([made.size, made.take('a', RATE), made.take('b', RATE)]).toEqual([1, 0, 1])
  })
})

describe('the gate', () => {
  const keys = [{ name: 'ops', role: 'user', sha256: '0'.repeat(64) } as const]

  test('does not open off loopback: a reload without keys is refused, and changes nothing', () => {
    const gate = new Gate({ bound: '0.0.0.0', hosts: [], origins: ['https://app.example'], keys }, () => 0)
    const refused =
      '0.0.0.0 is reachable from other machines, but there are no keys; add server.keys, or restart the gateway for another server.host'
    expect(() => gate.reload({ hosts: [], origins: [], keys: [] })).toThrow(new Error(refused))
    expect(gate.allowsOrigin('https://app.example')).toBe(true)
    expect(gate.admit({}, '192.0.2.1')).toMatchObject({
      fault: { code: 'unauthenticated' },
      headers: { 'www-authenticate': 'Bearer' },
    })
  })

  test('may lose its keys on loopback', () => {
    const gate = new Gate({ bound: '127.0.0.1', hosts: [], origins: [], keys }, () => 0)
    gate.reload({ hosts: [], origins: ['https://app.example'], keys: [] })
    expect(gate.admit({}, '127.0.0.1')).toEqual({ tenant: 'local', role: 'admin' })
    expect(gate.allowsOrigin('https://app.example')).toBe(true)
    expect(gate.allowsOrigin('https://app.example/')).toBe(false)
  })
})
