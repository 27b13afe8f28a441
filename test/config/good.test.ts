import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/config/index.ts'
import { parseConfig } from '../../src/config/load.ts'
import { isLoopback } from '../../src/model/index.ts'
import { CODECS, parse } from './codecs.ts'

const SERVER_LIMITS = { headers: 20_000, body: 120_000, keepAlive: 5000, connections: 10_000 }

const WHOLE = `
server:
  host: 127.0.0.1
  port: 8484
  socket: run/turnpike.sock
  hosts: [gateway.example]
  origins: ["https://app.example"]
  limits: { headers: 10s, body: 1m, keepAlive: 6s, connections: 50 }
  keys:
    - { name: clawops, env: CLAWOPS_KEY, agents: [helper, "co*"], fronts: [zene, "qwen*"], limits: { perMinute: 60, burst: 5, turns: 2 } }
    - { name: other, role: admin, hash: ${'AB'.repeat(32)} }
    - { name: third, hash: "sha256:${'CD'.repeat(32)}" }
default: helper
agents:
  helper: { protocol: agentproc, command: ./agents/helper.sh, args: [], stdin: message, env: { API_KEY: "\${API_KEY}" } }
  coder:  { protocol: zot, command: zot, args: [rpc], cwd: work, pool: { warm: 1, max: 8, idle: 10m }, token: { env: ZOT_TOKEN } }
  engine: { protocol: openharness, url: "http://127.0.0.1:9000/v1/openharness", headers: { Authorization: "Bearer \${KEY}" } }
  qwen:   { protocol: qwen-code, command: node, inherit: [KEY, CLAWOPS_KEY], limits: { idle: 1h }, restore: replay, breaker: { failures: 2, cooldown: 1m }, health: { every: 30s } }
limits: { start: 31s, firstEvent: 61s, idle: 121s, total: 31m, ask: 6m, grace: 0s, line: 1MiB, body: 5MB, queue: 0 }
routes:
  - { when: { front: zene, channel: "qq_*" }, agent: coder, fallback: [helper], approvals: allow, loss: strict, onDisconnect: drain, limits: { total: 1m } }
  - { agent: engine, busy: reject }
store: { kind: sqlite, path: ./data/my.db, retention: 1d }
telemetry: { otlp: "http://127.0.0.1:4318", content: true, metrics: false, logs: true, protocol: http/protobuf, sample: 0.5, headers: { x-a: b } }
log: { level: debug, pretty: true }
`

describe('a whole file', () => {
  const env = { API_KEY: 'api-secret', KEY: 'key-secret', CLAWOPS_KEY: 'claw-secret' }
  const config = parseConfig(WHOLE, {
    file: 'turnpike.yaml',
    folder: '/etc/turnpike',
    env,
    codecs: { ...CODECS, zene: { ...CODECS['openharness']!, dialects: ['v1', 'clawrun'] } },
  })

  it('gives the server', () => {
    expect(config.server).toEqual({
      host: '127.0.0.1',
      port: 8484,
      console: true,
      socket: '/etc/turnpike/run/turnpike.sock',
      hosts: ['gateway.example'],
      origins: ['https://app.example'],
      limits: { headers: 10_000, body: 60_000, keepAlive: 6000, connections: 50 },
      keys: [
        {
          name: 'clawops',
          role: 'user',
          secret: 'claw-secret',
          agents: ['helper', 'co*'],
          fronts: ['zene', 'qwen*'],
          limits: { perMinute: 60, burst: 5, turns: 2 },
        },
        { name: 'other', role: 'admin', hash: 'ab'.repeat(32) },
        { name: 'third', role: 'user', hash: 'cd'.repeat(32) },
      ],
    })
    expect(config.withheld).toEqual(['CLAWOPS_KEY'])
  })

  it('gives the limits, and each agent those with its own over them', () => {
    const limits = {
      start: 31_000,
      firstEvent: 61_000,
      idle: 121_000,
      total: 1_860_000,
      ask: 360_000,
      grace: 0,
      line: 1_048_576,
      body: 5_000_000,
      answer: 128 * 1024 * 1024,
      queue: 0,
    }
    expect(config.limits).toEqual(limits)
    expect(config.agents.get('helper')?.limits).toEqual(limits)
    expect(config.agents.get('qwen')?.limits).toEqual({ ...limits, idle: 3_600_000 })
  })

  it('gives the agents, with absolute paths and what their codecs made of the options', () => {
    expect([...config.agents.keys()]).toEqual(['helper', 'coder', 'engine', 'qwen'])
    const { limits } = config
    expect(config.agents.get('helper')).toEqual({
      name: 'helper',
      protocol: 'agentproc',
      dialect: '0.1',
      kind: 'process',
      command: '/etc/turnpike/agents/helper.sh',
      args: [],
      cwd: '/etc/turnpike',
      env: { API_KEY: 'api-secret' },
      inherit: [],
      pool: { warm: 0, max: 8, idle: 600_000 },
      limits,
      options: { stdin: 'message' },
      folder: '/etc/turnpike',
      restore: 'fresh',
      breaker: { failures: 5, cooldown: 15_000 },
    })
    expect(config.agents.get('coder')).toMatchObject({
      command: 'zot',
      cwd: '/etc/turnpike/work',
      pool: { warm: 1, max: 8, idle: 600_000 },
      options: { token: { env: 'ZOT_TOKEN' } },
    })
    expect(config.agents.get('engine')).toEqual({
      name: 'engine',
      protocol: 'openharness',
      dialect: 'v1',
      kind: 'http',
      url: 'http://127.0.0.1:9000/v1/openharness',
      headers: { Authorization: 'Bearer key-secret' },
      cwd: '/etc/turnpike',
      env: {},
      inherit: [],
      pool: { warm: 0, max: 8, idle: 600_000 },
      limits,
      options: {},
      folder: '/etc/turnpike',
      restore: 'fresh',
      breaker: { failures: 5, cooldown: 15_000 },
    })
    expect(config.agents.get('qwen')).toMatchObject({
      protocol: 'qwen',
      dialect: 'qwen-code',
      inherit: ['KEY'],
      restore: 'replay',
      breaker: { failures: 2, cooldown: 60_000 },
      health: { every: 30_000, timeout: 5000 },
    })
    expect(config.agents.get('qwen')?.args).toBeUndefined()
  })

  it('gives the rest', () => {
    expect(config.default).toBe('helper')
    expect(config.routes).toEqual([
      {
        when: { front: 'zene', channel: 'qq_*' },
        agent: 'coder',
        fallback: ['helper'],
        approvals: 'allow',
        loss: 'strict',
        busy: 'queue',
        history: 'resume',
        journal: 'full',
        secrets: 'keep',
        onDisconnect: 'drain',
        limits: { total: 60_000 },
      },
      {
        when: {},
        agent: 'engine',
        fallback: [],
        approvals: 'deny',
        loss: 'report',
        busy: 'reject',
        history: 'resume',
        journal: 'full',
        secrets: 'keep',
      },
    ])
    expect(config.store).toEqual({ kind: 'sqlite', path: '/etc/turnpike/data/my.db', retention: 86_400_000 })
    expect(config.telemetry).toEqual({
      otlp: 'http://127.0.0.1:4318',
      content: true,
      metrics: false,
      logs: true,
      protocol: 'http/protobuf',
      sample: 0.5,
      headers: { 'x-a': 'b' },
    })
    expect(config.log).toEqual({ level: 'debug', pretty: true })
    expect(config.warnings).toEqual([])
  })

  it('hides what came from the environment in a text', () => {
    expect(config.redact('Bearer key-secret, claw-secret and api-secrets')).toBe(
      `Bearer \${KEY}, \${CLAWOPS_KEY} and \${API_KEY}s`,
    )
  })
})

describe('what is left out', () => {
  it.each(['', '\n# nothing\n', '{}', '---\n'])('has its default, in the file %j', (text) => {
    const { redact, agents, ...config } = parse(text)
    expect(config).toEqual({
      server: { host: '127.0.0.1', port: 8484, console: true, keys: [], limits: SERVER_LIMITS },
      limits: DEFAULT_LIMITS,
      routes: [],
      store: { kind: 'sqlite', path: '/etc/turnpike/data/turnpike.db', retention: 604_800_000 },
      log: { level: 'info' },
      warnings: [],
      withheld: [],
    })
    expect(agents.size).toBe(0)
    expect(redact('text')).toBe('text')
  })

  it('has these default limits', () => {
    expect(DEFAULT_LIMITS).toEqual({
      start: 30_000,
      firstEvent: 60_000,
      idle: 120_000,
      total: 1_800_000,
      ask: 300_000,
      grace: 5000,
      line: 16_777_216,
      body: 10_485_760,
      answer: 128 * 1024 * 1024,
      queue: 64,
    })
  })

  it.each([
    ['{ password: "p@ss w?rd&" }', 'postgres://me@db/x?password=p%40ss+w%3Frd%26'],
    ['{ ca: ca.pem }', 'postgres://me@db/x?sslrootcert=%2Fetc%2Fturnpike%2Fca.pem&sslmode=verify-full'],
  ])('of a database has its password and certificates in its URL: %s', (more, url) => {
    const store = `store: { kind: postgres, url: "postgres://me@db/x", ${more.slice(2)}`
    expect(parse(store).store).toEqual({ kind: 'postgres', url, schema: 'turnpike', retention: 604_800_000 })
  })

  it('of a database keeps the mode of its URL', () => {
    const { store } = parse('store: { kind: postgres, url: "postgres://db/x?sslmode=disable", ca: /ca.pem }')
    expect(store).toMatchObject({ url: 'postgres://db/x?sslmode=disable&sslrootcert=%2Fca.pem' })
  })

  it('does not matter for a store in memory or no socket', () => {
    const config = parse('store: { path: ":memory:" }\nserver: { socket: false }\n')
    expect(config.store).toMatchObject({ kind: 'sqlite', path: ':memory:' })
    expect(config.server.socket).toBe(false)
  })
})

describe('a protocol', () => {
  it.each([
    ['agentproc', 'agentproc', '0.1'],
    ['agentproc@0.4', 'agentproc', '0.4'],
    ['qwen', 'qwen', 'rfc'],
    ['qwen@qwen-code', 'qwen', 'qwen-code'],
    ['qwen-code', 'qwen', 'qwen-code'],
  ])('written %s is %s in the dialect %s', (written, protocol, dialect) => {
    expect(parse(`agents: { a: { protocol: "${written}", command: x } }`).agents.get('a')).toMatchObject({
      protocol,
      dialect,
    })
  })
})

describe('a command', () => {
  const command = (written: string, folder: string): string | undefined =>
    parse(`agents: { a: { protocol: agentproc, ${written} } }`, {}, folder).agents.get('a')?.command

  it.each([
    ['command: ./run.sh', '/f', '/f/run.sh'],
    ['command: run.sh', '/f', 'run.sh'],
    ['command: /bin/run', '/f', '/bin/run'],
    ['command: ../bin/run', '/f/g', '/f/bin/run'],
    ['command: ./run.sh --at ./x', '/f', '/f/run.sh --at ./x'],
    ['command: python3 ./run.py', '/f', 'python3 ./run.py'],
    ['command: ./run me.sh, args: []', '/f', '/f/run me.sh'],
    ['command: ./run.sh, args: []', '/f g', '/f g/run.sh'],
    // It will be split at white space, and runs in the folder anyway.
    ['command: ./run.sh -x', '/f g', './run.sh -x'],
  ])('written %s in the folder %s is %s', (written, folder, expected) => {
    expect(command(written, folder)).toBe(expected)
  })
})

describe('what a process inherits', () => {
  const env = { PATH: '/bin', LC_ALL: 'C', LC_TIME: 'C', GATE_KEY: 'gate-secret' }
  const keys = 'server: { keys: [{ name: k, env: GATE_KEY }] }\n'
  const inherit = (agent: string): readonly string[] | undefined =>
    parse(`${keys}agents: { a: { command: x, ${agent} } }`, env).agents.get('a')?.inherit

  it.each([
    ['protocol: zot', []],
    ['protocol: zot, inherit: ["*"]', ['PATH', 'LC_ALL', 'LC_TIME']],
    ['protocol: zot, inherit: [PATH, "LC_*", NONE]', ['PATH', 'LC_ALL', 'LC_TIME']],
    ['protocol: zot, inherit: ["*_ALL", GATE_KEY]', ['LC_ALL']],
    ['protocol: agentproc', []],
    ['protocol: agentproc, inherit: ["LC_*"]', ['LC_ALL', 'LC_TIME']],
    ['protocol: agentproc, inherit: []', []],
    ['protocol: agentproc, env_allowlist: [LC_TIME]', []],
  ])('is for { %s } %j: never a key of the gateway', (agent, names) => {
    expect(inherit(agent)).toEqual(names)
  })
})

const SILENT = { firstEvent: 2_147_483_647, idle: 2_147_483_647 }

describe("AgentProc's own limits", () => {
  it.each([
    ['streaming: false', 1_800_000, 5000],
    ['timeout_secs: 2.5, kill_grace_secs: 1', 2500, 1000],
    ['timeout_secs: 0, kill_grace_secs: 0', 2_147_483_647, 0],
    ['timeout_secs: 2.5, limits: { total: 9s, grace: 3s }', 9000, 3000],
  ])('are the limits of the agent, for { %s }', (agent, total, grace) => {
    const config = parse(`agents: { a: { protocol: agentproc, command: x, ${agent} } }`)
    expect(config.agents.get('a')?.limits).toEqual({ ...DEFAULT_LIMITS, ...SILENT, total, grace })
  })
})

describe('agents that are one process a turn may be silent for as long as their turn', () => {
  it.each([
    ['agentproc', '', SILENT],
    ['zot', '', {}],
    ['agentproc', 'limits: { firstEvent: 3s, idle: 4s }', { firstEvent: 3000, idle: 4000 }],
  ])('%s under { %s }', (protocol, limits, expected) => {
    const config = parse(`${limits}\nagents: { a: { protocol: ${protocol}, command: x } }`)
    expect(config.agents.get('a')?.limits).toEqual({ ...DEFAULT_LIMITS, ...expected })
  })
})

describe('isLoopback', () => {
  it.each(['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'takes %s',
    (host) => expect(isLoopback(host)).toBe(true),
  )
  it.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', 'gateway', '1270.0.0.1', '::ffff:10.0.0.1'])(
    'does not take %s',
    (host) => expect(isLoopback(host)).toBe(false),
  )
})

describe('what a process runs under and may take', () => {
  it('is resolved, its program from the folder of the file', () => {
    const { agents } = parse(
      'agents:\n  a: { protocol: zot, command: zot, workspaces: [., "/srv"], clientMcpServers: true, wrap: [./box, --ro], resources: { memory: 1GiB, cpu: 1m, files: 64, processes: 9, fileSize: 1MB } }\n',
    )
    expect(agents.get('a')).toMatchObject({
      command: 'zot',
      workspaces: ['/etc/turnpike', '/srv'],
      clientMcpServers: true,
      wrap: ['/etc/turnpike/box', '--ro'],
      resources: { memory: 1_073_741_824, cpu: 60_000, files: 64, processes: 9, fileSize: 1_000_000 },
    })
  })
})
