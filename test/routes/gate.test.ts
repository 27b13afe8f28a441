import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Gate, type Refusal } from '../../routes/gate.ts'
import { accessOf, type Caller, frontRefusal, type KeyRule, roleRefusal, sha256 } from '../../routes/keys.ts'

const HOST = { host: 'gateway.example:8484' }
const HOUR = 3_600_000

const rule = (name: string, more: Partial<KeyRule> = {}): KeyRule => ({
  name,
  role: 'user',
  sha256: sha256(`key of ${name}`),
  ...more,
})
const ADA = rule('ada', { role: 'admin', agents: ['c*'], fronts: ['native'] })
const BOB = rule('bob')
const names = (keys: readonly KeyRule[]) => ({ keys, hosts: [], origins: [] })
const gate = (keys: readonly KeyRule[], now = () => 0, bound = '0.0.0.0'): Gate =>
  new Gate({ ...names(keys), bound }, now)
const codeOf = (found: Caller | Refusal): string =>
  'fault' in found ? found.fault.code : (found.principal ?? 'nobody')

test.each<[sent: string, headers: Record<string, string>, found: string]>([
  ['no key', {}, 'unauthenticated'],
  ['a bearer token', { authorization: 'Bearer key-of-ada' }, 'unauthenticated'],
  ['the right bearer token', { authorization: 'bearer  key' }, 'key'],
  ['the key header', { 'x-api-key': 'key of bob' }, 'bob'],
  ['both, of which the bearer token counts', { authorization: 'Bearer key', 'x-api-key': 'key of bob' }, 'key'],
  ['another scheme and the key header', { authorization: 'Basic key', 'x-api-key': 'key of bob' }, 'bob'],
  ['an empty key', { 'x-api-key': '' }, 'unauthenticated'],
  ['a key in other letters', { 'x-api-key': 'KEY OF BOB' }, 'unauthenticated'],
  ['a cookie of no login', { cookie: 'turnpike=x' }, 'unauthenticated'],
])('a request with %s is admitted as, or refused with, its due', (_sent, headers, found) => {
  const it = gate([ADA, BOB, { ...rule('key'), sha256: sha256('key') }])
  const got = it.admit({ ...HOST, ...headers }, '10.0.0.1')
  expect(codeOf(got)).toBe(found)
  if ('fault' in got) expect(got.headers).toEqual({ 'www-authenticate': 'Bearer' })
})

test('a key gives its tenant, its role and its limits, and no key those of the local tenant', () => {
  expect(gate([ADA]).admit({ ...HOST, 'x-api-key': 'key of ada' }, undefined)).toEqual({
    tenant: 'ada',
    role: 'admin',
    principal: 'ada',
    allowed: ['c*'],
    fronts: ['native'],
  })
  expect(gate([], () => 0, '127.0.0.1').admit({ host: '127.0.0.1' }, '127.0.0.1')).toEqual({
    tenant: 'local',
    role: 'admin',
  })
})

test('a host that is not this one is refused before its key is looked at', () => {
  const it = gate([BOB], () => 0, '127.0.0.1')
  for (let sent = 0; sent < 20; sent += 1)
    expect(codeOf(it.admit({ host: 'evil.example', 'x-api-key': 'wrong' }, '10.0.0.1'))).toBe('forbidden')
  expect(codeOf(it.admit({ host: 'localhost', 'x-api-key': 'key of bob' }, '10.0.0.1'))).toBe('bob')
})

/** What happens to a gate: a request, a login, its end, a change of the keys, or time. */
const step = fc.oneof(
  fc.record({
    does: fc.constant('request' as const),
    key: fc.constantFrom('key of ada', 'key of bob', undefined),
    login: fc.nat(3),
    method: fc.constantFrom('GET', 'POST'),
    site: fc.constantFrom('same-origin', 'cross-site', undefined),
  }),
  fc.record({ does: fc.constant('login' as const), key: fc.constantFrom('ada', 'bob', 'eve') }),
  fc.record({ does: fc.constant('logout' as const), login: fc.nat(3) }),
  fc.record({ does: fc.constant('keys' as const), keys: fc.constantFrom([ADA], [BOB], [ADA, BOB]) }),
  fc.record({ does: fc.constant('wait' as const), hours: fc.constantFrom(1, 11, 12) }),
)

test('law: a login counts while it lasts, its key is there, and its page is our own; a key comes before it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let now = 0
      let keys: readonly KeyRule[] = [ADA, BOB]
      const it = gate(keys, () => now)
      const logins: { id: string; of: string; until: number }[] = []
      const has = (name: string): boolean => keys.some((key) => key.name === name)
      for (const each of steps) {
        if (each.does === 'wait') now += each.hours * HOUR
        else if (each.does === 'keys') {
          keys = each.keys
          it.reload(names(keys))
        } else if (each.does === 'login') {
          const id = it.login(HOST, undefined, `key of ${each.key}`)
          expect(typeof id === 'string').toBe(has(each.key))
          if (typeof id === 'string') logins.push({ id, of: each.key, until: now + 12 * HOUR })
        } else if (each.does === 'logout') {
          const login = logins.at(-1 - each.login)
          it.logOut(login?.id)
          if (login) login.until = now
        } else {
          const { key, method, site } = each
          const login = logins.at(-1 - each.login)
          const headers = {
            ...HOST,
            ...(key !== undefined && { 'x-api-key': key }),
            ...(login && { cookie: `other=1; turnpike=${login.id}` }),
            ...(site !== undefined && { 'sec-fetch-site': site }),
          }
          const isOwn = site === 'same-origin' || (site === undefined && method === 'GET')
          const lasts = login !== undefined && now < login.until && isOwn ? login.of : undefined
          const name = key === undefined ? lasts : key.slice('key of '.length)
          const expected = name !== undefined && has(name) ? name : 'unauthenticated'
          expect(codeOf(it.admit(headers, undefined, method))).toBe(expected)
        }
      }
    }),
  )
})

test('a login counts against the rate of its key, like its requests', () => {
  const it = gate([{ ...BOB, rate: { perMinute: 1, burst: 2 } }])
  const id = it.login(HOST, undefined, 'key of bob')
  const page = { ...HOST, cookie: `turnpike=${id}`, 'sec-fetch-site': 'same-origin' }
  expect(codeOf(it.admit(page, undefined))).toBe('bob')
  const refused = it.admit(page, undefined)
  expect(refused).toMatchObject({ fault: { code: 'overloaded' }, headers: { 'retry-after': '60' } })
  expect(it.login(HOST, undefined, 'key of bob')).toMatchObject({ fault: { code: 'overloaded' } })
})

test('rates are shared only where there are some, and what others took is taken here too', async () => {
  const asked: unknown[] = []
  const exchange = async (taken: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> => {
    asked.push(Object.fromEntries(taken))
    return new Map([
      ['bob', 2],
      ['ada', 9],
      ['gone', 9],
    ])
  }
  await gate([ADA]).shareRates(exchange)
  expect(asked).toEqual([])
  const it = gate([ADA, { ...BOB, rate: { perMinute: 1, burst: 3 } }])
  const send = (name: string): string => codeOf(it.admit({ ...HOST, 'x-api-key': `key of ${name}` }, undefined))
  expect(send('bob')).toBe('bob')
  await it.shareRates(exchange)
  expect(asked).toEqual([{ bob: 1 }])
  expect([send('bob'), send('ada')]).toEqual(['overloaded', 'ada'])
})

test('origins are those of the configuration, as it is now', () => {
  const it = gate([BOB])
  expect([it.hasKeys, it.allowsOrigin('https://a.example')]).toEqual([true, false])
  it.reload({ keys: [ADA], hosts: [], origins: ['https://a.example'] })
  expect([it.allowsOrigin('https://a.example'), it.allowsOrigin('https://b.example')]).toEqual([true, false])
  expect(gate([], () => 0, '::1').hasKeys).toBe(false)
})

const CALLER: Caller = { tenant: 'ada', role: 'user', principal: 'ada' }

test.each<[fronts: readonly string[] | undefined, front: string, refused: boolean]>([
  [undefined, 'zot', false],
  [[], 'zot', true],
  [['zot'], 'zot', false],
  [['zot'], 'zene', true],
  [['z*'], 'zene', false],
  [['agentproc'], 'agentproc@0.4', false],
  [['agentproc@0.4'], 'agentproc@0.4', false],
  [['agentproc@0.4'], 'agentproc', true],
  [['agentproc@0.4'], 'agentproc@0.3', true],
  [['zot', 'native'], 'native', false],
])('a key for the fronts %j at the front %s: refused %s', (fronts, front, refused) => {
  const found = frontRefusal({ ...CALLER, ...(fronts && { fronts }) }, front)
  expect(found?.code).toBe(refused ? 'forbidden' : undefined)
  if (refused) expect(found!.message).toBe(`This key may not use the protocol "${front.split('@')[0]}".`)
})

test('what operators may needs the key of one', () => {
  expect(roleRefusal({ ...CALLER, role: 'admin' })).toBeUndefined()
  expect(roleRefusal(CALLER)).toEqual({
    code: 'forbidden',
    message: 'This needs a key with "role: admin", and the key "ada" has "role: user".',
    retryable: false,
  })
})

test('a client has the rights of its key, for the agent that it names', () => {
  expect(accessOf(CALLER, undefined)).toEqual({ tenant: 'ada', role: 'user' })
  expect(accessOf({ ...CALLER, allowed: ['c*'] }, 'coder')).toEqual({
    tenant: 'ada',
    role: 'user',
    allowed: ['c*'],
    agent: 'coder',
  })
})

test.each<[keys: number, bound: string, admitted: boolean]>([
  [0, '127.0.0.1', true],
  [0, '::1', true],
  [0, '0.0.0.0', false],
  [0, '10.0.0.1', false],
  [1, '0.0.0.0', true],
])('a reload with %i keys on %s is taken: %s', (keys, bound, admitted) => {
  const it = gate([ADA], () => 0, bound)
  const reload = (): void => it.reload(names([BOB].slice(0, keys)))
  if (admitted) {
    reload()
    expect(it.hasKeys).toBe(keys > 0)
    return
  }
  expect(reload).toThrow(
    `${bound} is reachable from other machines, but there are no keys; add server.keys, or restart the gateway for another server.host`,
  )
  // What was there goes on.
  expect(codeOf(it.admit({ ...HOST, 'x-api-key': 'key of ada' }, undefined))).toBe('ada')
})

test('a reload changes the rules for hosts, and not the address that is listened on', () => {
  const it = gate([], () => 0, '127.0.0.1')
  const page = { host: 'app.example', origin: 'https://web.example' }
  expect(codeOf(it.admit(page, undefined))).toBe('forbidden')
  it.reload({ keys: [], hosts: ['app.example'], origins: ['https://web.example'] })
  expect(codeOf(it.admit(page, undefined))).toBe('nobody')
  expect(codeOf(it.admit({ host: 'other.example' }, undefined))).toBe('forbidden')
})

test('used rates outlive a reload for keys that stay, and begin anew for keys that were gone', () => {
  const rate = { perMinute: 1, burst: 1 }
  const limited = [
    { ...ADA, rate },
    { ...BOB, rate },
  ]
  const it = gate(limited)
  const send = (name: string): string => codeOf(it.admit({ ...HOST, 'x-api-key': `key of ${name}` }, undefined))
  expect([send('ada'), send('bob')]).toEqual(['ada', 'bob'])
  it.reload(names([limited[0]!]))
  it.reload(names(limited))
  expect([send('ada'), send('bob')]).toEqual(['overloaded', 'bob'])
})

test('a rate that is used up is told with the seconds to wait', () => {
  let now = 0
  const it = gate([{ ...BOB, rate: { perMinute: 6, burst: 1 } }], () => now)
  const send = (): Caller | Refusal => it.admit({ ...HOST, 'x-api-key': 'key of bob' }, undefined)
  expect(codeOf(send())).toBe('bob')
  now = 2500
  expect(send()).toEqual({
    fault: {
      code: 'overloaded',
      message: 'This key has sent too many requests; send the next one in 8 s.',
      retryable: true,
    },
    headers: { 'retry-after': '8' },
  })
  now = 10_000
  expect(codeOf(send())).toBe('bob')
})

test('an address that guesses is told how long it has to wait, and no other address is', () => {
  let now = 0
  const it = gate([BOB], () => now)
  const send = (key: string, address: string): Caller | Refusal => it.admit({ ...HOST, 'x-api-key': key }, address)
  for (let guess = 0; guess < 10; guess += 1) expect(codeOf(send(`guess ${guess}`, '10.0.0.1'))).toBe('unauthenticated')
  expect(send('guess', '10.0.0.1')).toMatchObject({
    fault: { code: 'overloaded', message: 'Too many wrong keys came from this address; try again in 6 s.' },
    headers: { 'retry-after': '6' },
  })
  expect(codeOf(send('key of bob', '10.0.0.1'))).toBe('overloaded')
  expect(codeOf(send('key of bob', '10.0.0.2'))).toBe('bob')
  // A request without a key guesses nothing.
  expect(codeOf(it.admit(HOST, '10.0.0.1'))).toBe('unauthenticated')
  now = 6000
  expect(codeOf(send('key of bob', '10.0.0.1'))).toBe('bob')
})

test('a refused key uses nothing of the rate of a right one', () => {
  const it = gate([{ ...BOB, rate: { perMinute: 1, burst: 1 } }])
  for (let guess = 0; guess < 20; guess += 1) it.admit({ ...HOST, 'x-api-key': 'guess' }, '10.0.0.1')
  expect(codeOf(it.admit({ ...HOST, 'x-api-key': 'key of bob' }, '10.0.0.2'))).toBe('bob')
})

test('a login is with the key that is given, whatever key the request brings', () => {
  const it = gate([ADA, BOB])
  const id = it.login(
    { ...HOST, authorization: 'Bearer key-of-ada', 'x-api-key': 'key of ada' },
    undefined,
    'key of bob',
  )
  expect(codeOf(it.admit({ ...HOST, cookie: `turnpike=${id}`, 'sec-fetch-site': 'same-origin' }, undefined))).toBe(
    'bob',
  )
  expect(it.login(HOST, undefined, 'wrong')).toMatchObject({ fault: { code: 'unauthenticated' } })
  expect(it.login({ ...HOST, 'x-api-key': 'key of ada' }, undefined, 'wrong')).toMatchObject({
    fault: { code: 'unauthenticated' },
  })
})

test('ending no login ends none', () => {
  const it = gate([BOB])
  const id = it.login(HOST, undefined, 'key of bob')
  const page = { ...HOST, cookie: `turnpike=${id}`, 'sec-fetch-site': 'same-origin' }
  it.logOut(undefined)
  it.logOut('of nobody')
  expect(codeOf(it.admit(page, undefined))).toBe('bob')
  it.logOut(id as string)
  expect(codeOf(it.admit(page, undefined))).toBe('unauthenticated')
})

test('a login of a browser is no guess of its address', () => {
  const it = gate([BOB])
  const id = it.login(HOST, '10.0.0.1', 'key of bob')
  const page = { ...HOST, cookie: `turnpike=${id}`, 'sec-fetch-site': 'same-origin' }
  for (let guess = 0; guess < 11; guess += 1) it.admit({ ...HOST, 'x-api-key': 'guess' }, '10.0.0.1')
  expect(codeOf(it.admit(page, '10.0.0.1'))).toBe('bob')
})

test('what others took of a rate is added up until it is earned again', async () => {
  let now = 0
  const it = gate([{ ...BOB, rate: { perMinute: 60, burst: 2 } }], () => now)
  const send = (): string => codeOf(it.admit({ ...HOST, 'x-api-key': 'key of bob' }, undefined))
  await it.shareRates(async () => new Map([['bob', 1]]))
  await it.shareRates(async () => new Map([['bob', 3]]))
  await it.shareRates(async () => new Map([['bob', 0]]))
  await it.shareRates(async () => new Map())
  // It owes two, and has to have one.
  now = 2999
  expect(send()).toBe('overloaded')
  now = 3000
  expect([send(), send()]).toEqual(['bob', 'overloaded'])
})
