import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gate } from '../../routes/index.ts'
import { Limiter } from '../../routes/limiter.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const keys = ['right', 'other'].map((name) => ({ name, role: 'user' as const, sha256: hashOf(name) }))

describe('wrong keys', () => {
  /** What a request with this key from this address is answered: who it is, or the error, and when to come again. */
  function gateAt(now: () => number) {
    const gate = new Gate({ hosts: [], origins: [], keys, bound: '127.0.0.1' }, now)
    return (key: string | undefined, address: string | undefined): string => {
      const admitted = gate.admit(key === undefined ? {} : { authorization: `Bearer ${key}` }, address)
      if (!('fault' in admitted)) return admitted.tenant
      const wait = admitted.headers['retry-after']
      return wait === undefined ? admitted.fault.code : `${admitted.fault.code} for ${wait} s`
    }
  }
  const TEN = Array(10).fill('unauthenticated') as string[]

  test('are told so ten times, then nothing from there is looked at for a while', () => {
    let now = 0
    const ask = gateAt(() => now)
    expect(TEN.map(() => ask('wrong', '192.0.2.1'))).toEqual(TEN)
    expect(ask('wrong', '192.0.2.1')).toBe('overloaded for 6 s')
    // Also a right one: who guesses does not learn it.
    expect(ask('right', '192.0.2.1')).toBe('overloaded for 6 s')
    expect(ask('right', '192.0.2.2')).toBe('right')
    now += 6000
    expect(ask('right', '192.0.2.1')).toBe('right')
    expect(ask('wrong', '192.0.2.1')).toBe('unauthenticated')
    expect(ask('wrong', '192.0.2.1')).toBe('overloaded for 6 s')
  })

  test('lock out nobody whose key was right from there before', () => {
    const ask = gateAt(() => 0)
    expect(ask('right', '192.0.2.1')).toBe('right')
    for (const _ of TEN) ask('wrong', '192.0.2.1')
    expect([ask('right', '192.0.2.1'), ask('other', '192.0.2.1')]).toEqual(['right', 'overloaded for 6 s'])
  })

  test('do not count where no key was sent, nor on a Unix socket', () => {
    const ask = gateAt(() => 0)
    for (const _ of [...TEN, ...TEN]) expect(ask(undefined, '192.0.2.1')).toBe('unauthenticated')
    for (const _ of [...TEN, ...TEN]) expect(ask('wrong', undefined)).toBe('unauthenticated')
    expect(ask('right', '192.0.2.1')).toBe('right')
  })

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8::1', '2001:db8:0:0:5::', true],
    ['::1', '::2', true],
    ['::1', '1::', false],
    ['fe80::1', 'fe80::2', true],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ])('from %s and %s count together: %s', (one, another, together) => {
    const ask = gateAt(() => 0)
    for (const _ of TEN) ask('wrong', one)
    expect(ask('wrong', another)).toBe(together ? 'overloaded for 6 s' : 'unauthenticated')
  })

  test('of any number of addresses take no more memory than those of so many', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 100 }), fc.integer({ min: 1, max: 10 }), (names, most) => {
        const limiter = new Limiter(() => 0, most)
        for (const name of names) limiter.take(String(name), { perMinute: 1, burst: 3 })
        expect(limiter.size).toBe(Math.min(most, limiter.size))
        expect(limiter.size).toBeLessThanOrEqual(new Set(names).size)
      }),
    )
  })
})

describe('over HTTP', () => {
  let gateway: TestGateway
  const statusOf = async (key: string, path: string): Promise<[number, string | null]> => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const body = path === '/v1/agents' ? {} : { method: 'POST', body: '{"input":"hi"}' }
    const response = await fetch(`${gateway.url}${path}`, { headers, ...body })
    await response.arrayBuffer()
    return [response.status, response.headers.get('retry-after')]
  }

  beforeAll(async () => {
    gateway = await startGateway(`
server: { keys: [{ name: right, hash: ${hashOf('right')} }, { name: other, hash: ${hashOf('other')} }] }
default: helper
agents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => gateway.close())

  test('wrong keys are counted on every endpoint, and refused in its own way', async () => {
    expect(await statusOf('right', '/v1/turns')).toEqual([200, null])
    for (const path of ['/v1/turns', '/v1/agents']) {
      for (let count = 0; count < 5; count += 1) expect(await statusOf('wrong', path)).toEqual([401, null])
    }
    for (const path of ['/v1/turns', '/v1/agents']) {
      const [status, wait] = await statusOf('other', path)
      expect(status).toBe(429)
      expect(Number(wait)).toBeGreaterThanOrEqual(1)
    }
    expect(await statusOf('right', '/v1/turns')).toEqual([200, null])
  })
})
