import { describe, expect, test } from 'vitest'
import { hostAllowed, type Names } from '../../routes/hosts.ts'
import { isLoopback } from '../../src/model/index.ts'

const LOCAL: Names = { bound: '127.0.0.1', hosts: [], origins: [] }

describe('a host of this machine', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    '[::ffff:127.0.0.1]',
    '::FFFF:127.0.0.1',
  ])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  test.each([
    '',
    'localhost.example.org',
    'example.localhost.org',
    '127.0.0.1.example.org',
    '127.0.0',
    '1127.0.0.1',
    '128.0.0.1',
    '0.0.0.0',
    '::',
    '::2',
    '10.0.0.1',
    '::ffff:10.0.0.1',
  ])('is not %j', (host) => {
    expect(isLoopback(host)).toBe(false)
  })
})

describe('a gateway on loopback', () => {
  test.each([
    ['no header at all', {}],
    ['its own address', { host: '127.0.0.1:8484' }],
    ['its own name', { host: 'localhost' }],
    ['its own name with a port', { host: 'LocalHost:8484' }],
    ['an IPv6 address', { host: '[::1]:8484' }],
    ['a page of this machine', { host: 'localhost', origin: 'http://localhost:3000' }],
    ['a page on IPv6', { host: 'localhost', origin: 'http://[::1]:3000' }],
  ])('takes %s', (_, headers) => {
    expect(hostAllowed(LOCAL, headers)).toBe(true)
  })

  test.each([
    ['the name of another machine', { host: 'evil.example' }],
    ['a name that begins like its own', { host: 'localhost.evil.example' }],
    ['a name that ends like its own', { host: 'evil.localhost' }],
    ['an address that begins like its own', { host: '127.0.0.1.evil.example:80' }],
    ['an empty name', { host: '' }],
    ['a page of another machine', { host: 'localhost', origin: 'http://evil.example' }],
    ['a page without an origin', { host: 'localhost', origin: 'null' }],
    ['an origin that is none', { host: 'localhost', origin: 'localhost' }],
    ['a page with its name as user', { host: 'localhost', origin: 'http://localhost@evil.example' }],
  ])('refuses %s', (_, headers) => {
    expect(hostAllowed(LOCAL, headers)).toBe(false)
  })

  test.each<[string[], string, boolean]>([
    [['gate.example'], 'gate.example', true],
    [['gate.example'], 'GATE.example', true],
    [['gate.example'], 'gate.example:8484', true],
    [['gate.example:8484'], 'gate.example:8484', true],
    [['gate.example:8484'], 'gate.example:80', false],
    [['gate.example:8484'], 'gate.example', false],
    [['gate.example'], 'other.gate.example', false],
  ])('with the hosts %j and the host %s: %s', (hosts, host, allowed) => {
    expect(hostAllowed({ ...LOCAL, hosts }, { host })).toBe(allowed)
  })

  test('takes pages of the configured origins, exactly', () => {
    const names = { ...LOCAL, origins: ['https://app.example'] }
    const from = (origin: string): boolean => hostAllowed(names, { host: 'localhost', origin })
    expect(from('https://app.example')).toBe(true)
    expect(from('http://app.example')).toBe(false)
    expect(from('https://app.example:444')).toBe(false)
    expect(from('https://sub.app.example')).toBe(false)
  })
})

test.each(['0.0.0.0', '::', '10.0.0.1', 'gate.example'])('a gateway on %s takes every host: it has keys', (bound) => {
  expect(hostAllowed({ ...LOCAL, bound }, { host: 'evil.example', origin: 'http://evil.example' })).toBe(true)
})
