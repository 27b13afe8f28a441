import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessOf, callerOf, findKey, frontRefusal, givenKey, type KeyRule, roleRefusal } from '../../routes/keys.ts'

const rule = (name: string, secret: string, more: Partial<KeyRule> = {}): KeyRule => ({
  name,
  role: 'user',
  sha256: createHash('sha256').update(secret).digest('hex'),
  ...more,
})

describe('the key of a request', () => {
  test.each([
    [{}, undefined],
    [{ authorization: 'Bearer k' }, 'k'],
    [{ authorization: 'bearer  k' }, 'k'],
    [{ authorization: 'BEARER k' }, 'k'],
    [{ 'x-api-key': 'k' }, 'k'],
    [{ authorization: 'Bearer k', 'x-api-key': 'other' }, 'k'],
    [{ authorization: 'Basic abc', 'x-api-key': 'k' }, 'k'],
    [{ authorization: 'Basic abc' }, undefined],
    [{ authorization: 'Bearer' }, undefined],
    [{ authorization: 'Bearer ' }, undefined],
    [{ authorization: 'Bearer a b' }, undefined],
    [{ authorization: 'k' }, undefined],
    [{ authorization: ' Bearer k' }, undefined],
  ])('with headers %j is %s', (headers, key) => {
    expect(givenKey(headers)).toBe(key)
  })
})

describe('the rule of a key', () => {
  const keys = [rule('one', 'secret-1'), rule('two', 'secret-2')]

  test('is none without keys, whatever is sent', () => {
    expect(findKey([], undefined)).toBeUndefined()
    expect(findKey([], 'x')).toBeUndefined()
  })

  test('is that of its secret', () => {
    expect(findKey(keys, 'secret-1')).toBe(keys[0])
    expect(findKey(keys, 'secret-2')).toBe(keys[1])
  })

  test('is found for no other text', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        fc.pre(!given.startsWith('secret-'))
        expect(findKey(keys, given)).toMatchObject({ code: 'unauthenticated' })
      }),
    )
    for (const near of ['', 'secret-1 ', 'Secret-1', 'secret-', 'secret-11', keys[0]!.sha256]) {
      expect(findKey(keys, near)).toMatchObject({
        code: 'unauthenticated',
        message: 'The key is unknown; check it, or ask the operator of the gateway for one.',
      })
    }
  })

  test('is asked for when none is sent', () => {
    expect(findKey(keys, undefined)).toMatchObject({
      code: 'unauthenticated',
      message: 'A key is required: send it as "Authorization: Bearer KEY".',
    })
  })
})

describe('the client of a key', () => {
  test('is the local one without a key', () => {
    expect(callerOf(undefined)).toEqual({ tenant: 'local', role: 'admin' })
  })

  test('has the name of the key, and its limits', () => {
    expect(callerOf(rule('ops', 'x'))).toEqual({ tenant: 'ops', role: 'user', principal: 'ops' })
    expect(callerOf(rule('ops', 'x', { agents: ['a'], fronts: ['zot'] }))).toEqual({
      tenant: 'ops',
      role: 'user',
      principal: 'ops',
      allowed: ['a'],
      fronts: ['zot'],
    })
  })

  test('may use its agents', () => {
    expect(accessOf({ tenant: 't', role: 'admin' }, undefined)).toEqual({ tenant: 't', role: 'admin' })
    expect(accessOf({ tenant: 't', role: 'user', allowed: ['a*'] }, 'b')).toEqual({
      tenant: 't',
      role: 'user',
      allowed: ['a*'],
      agent: 'b',
    })
  })

  test.each<[string[] | undefined, string, boolean]>([
    [undefined, 'zot', true],
    [[], 'zot', false],
    [['zot'], 'zot', true],
    [['zot'], 'zene', false],
    [['z*'], 'zene', true],
    [['qwen'], 'qwen@code', true],
    [['qwen@code'], 'qwen@code', true],
    [['qwen@code'], 'qwen', false],
    [['*@code'], 'qwen@code', true],
    [['*'], 'anything@else', true],
  ])('with the fronts %j may use %s: %s', (fronts, front, allowed) => {
    const refusal = frontRefusal({ tenant: 't', role: 'user', ...(fronts && { fronts }) }, front)
    if (allowed) expect(refusal).toBeUndefined()
    else {
      expect(refusal).toMatchObject({
        code: 'forbidden',
        message: `This key may not use the protocol "${front.split('@')[0]}".`,
      })
    }
  })

  test('may do what operators may with the role admin alone', () => {
    expect(roleRefusal(callerOf(undefined))).toBeUndefined()
    expect(roleRefusal(callerOf(rule('ops', 'x', { role: 'admin' })))).toBeUndefined()
    expect(roleRefusal(callerOf(rule('web', 'x')))).toMatchObject({
      code: 'forbidden',
      message: 'This needs a key with "role: admin", and the key "web" has "role: user".',
    })
  })
})
