import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { describeConfig } from '../../src/config/load.ts'
import { parse } from './codecs.ts'

const TEXT = `
server:
  keys:
    - { name: ops, env: OPS_KEY, agents: [a] }
    - { name: web, hash: ${'0f'.repeat(32)} }
default: a
agents:
  a:
    protocol: zot
    command: zot
    args: [rpc, --api-key, literal-1, --token=literal-2, --model, "\${MODEL_NAME}", --key, x]
    env: { API: literal-3, OTHER: "\${SECRET}" }
    token: { env: ZOT_TOKEN }
  b: { protocol: openharness, url: "http://me:literal-4@host/x?key=literal-5", headers: { Authorization: Bearer literal-6 } }
routes:
  - { agent: b, limits: { idle: 90s, queue: 3 } }
telemetry: { otlp: "http://localhost:4318", headers: { x-key: literal-7 }, content: false }
`

const ENV = { OPS_KEY: 'secret-ops-key', SECRET: 'secret-of-agent', MODEL_NAME: 'secret-model' }

describe('describeConfig', () => {
  const text = describeConfig(parse(TEXT, ENV))

  it('shows no secret, wherever it was', () => {
    expect(text).not.toMatch(/literal-|secret-|0f0f/)
  })

  it('shows what was resolved, for people', () => {
    const limits = {
      start: '30s',
      firstEvent: '1m',
      idle: '2m',
      total: '30m',
      ask: '5m',
      grace: '5s',
      line: '16MiB',
      body: '10MiB',
      answer: '128MiB',
      queue: 64,
    }
    const pool = { warm: 0, max: 8, idle: '10m' }
    expect(parseYaml(text)).toEqual({
      server: {
        host: '127.0.0.1',
        port: 8484,
        console: true,
        keys: [
          { name: 'ops', secret: '***', role: 'user', agents: ['a'] },
          { name: 'web', hash: '***', role: 'user' },
        ],
        limits: { headers: '20s', body: '2m', keepAlive: '5s', connections: 10_000 },
      },
      default: 'a',
      agents: {
        a: {
          protocol: 'zot@rpc',
          kind: 'process',
          command: 'zot',
          args: ['rpc', '--api-key', '***', '--token=***', '--model', `\${MODEL_NAME}`, '--key', '***'],
          cwd: '/etc/turnpike',
          env: { API: '***', OTHER: '***' },
          inherit: [],
          pool,
          limits,
          options: { token: { env: 'ZOT_TOKEN' } },
          folder: '/etc/turnpike',
          restore: 'fresh',
          breaker: { failures: 5, cooldown: '15s' },
        },
        b: {
          protocol: 'openharness@v1',
          kind: 'http',
          url: 'http://me:***@host/x?key=***',
          headers: { Authorization: '***' },
          cwd: '/etc/turnpike',
          env: {},
          inherit: [],
          pool,
          limits,
          options: {},
          folder: '/etc/turnpike',
          restore: 'fresh',
          breaker: { failures: 5, cooldown: '15s' },
        },
      },
      limits,
      routes: [
        {
          when: {},
          agent: 'b',
          fallback: [],
          approvals: 'deny',
          loss: 'report',
          busy: 'queue',
          history: 'resume',
          journal: 'full',
          secrets: 'keep',
          limits: { idle: '90s', queue: 3 },
        },
      ],
      store: { kind: 'sqlite', path: '/etc/turnpike/data/turnpike.db', retention: '7d' },
      telemetry: { otlp: 'http://localhost:4318', headers: { 'x-key': '***' }, content: false, metrics: true },
      log: { level: 'info' },
    })
  })

  it('describes the empty configuration', () => {
    expect(parseYaml(describeConfig(parse('')))).toMatchObject({ agents: {}, routes: [], log: { level: 'info' } })
  })
})

describe('redact', () => {
  it('knows the longest value first, and takes a value with signs of a pattern as it is', () => {
    const config = parse(`agents: { a: { protocol: zot, command: "\${A}", args: ["\${B}", "\${C}"] } }`, {
      A: 'secret',
      B: 'secret.*(x)',
      C: 'short',
    })
    expect(config.redact('secret.*(x) secret short secretx')).toBe(`\${B} \${A} short \${A}x`)
  })

  it('knows what an alias repeats', () => {
    const config = parse(`agents: { a: { protocol: zot, command: &c "\${A}", args: [*c] } }`, { A: 'secret' })
    expect(config.redact('a secret')).toBe(`a \${A}`)
  })
})
