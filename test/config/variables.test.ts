import { describe, expect, test } from 'vitest'
import { codecNames, loadCodecs } from '../../codecs/index.ts'
import { codecInfos } from '../../src/cli/configured.ts'
import { ConfigError } from '../../src/config/index.ts'
import { parseConfig } from '../../src/config/load.ts'
import { linesOf, parse } from './codecs.ts'
import { rows } from './rows.ts'

const codecs = codecInfos(await loadCodecs())
const AGENT = 'helper'

/** A value of the kind that docs/configuration.md gives for a key. */
function example(kind: string): unknown {
  const texts: Record<string, unknown> = {
    'path or false': false,
    'path or :memory:': ':memory:',
    'SHA-256, hexadecimal': 'ab'.repeat(32),
    'list of texts': ['nice'],
    'list of origins': ['https://app.example'],
    'list of patterns': ['h*'],
    'list of names': [AGENT],
    'list of absolute paths': ['/srv'],
    'list of servers': [{ name: 'files', command: ['mcp-files'], env: { ROOT: '/srv' } }],
    'text or { env: NAME }': 'word',
    'name of an agent': AGENT,
    'name of a variable': 'CLIENT_KEY',
    variables: { NAME: 'word' },
    'secret or list of them': { env: 'CLUSTER_SECRET' },
    headers: { 'x-name': 'word' },
    thinking: { type: 'adaptive' },
    limits: { idle: '7s', queue: 7, body: '3MiB' },
    pattern: 'z*',
    path: 'folder',
    size: '3MiB',
    URL: 'http://127.0.0.1:9/v1',
    'URL of a database': 'postgres://user@127.0.0.1:9/name',
    seconds: 7,
    number: 7,
    text: 'word',
  }
  if (kind in texts) return texts[kind]
  if (kind.startsWith('time')) return '7s'
  const range = /^(\d+) to (\d+)$/.exec(kind)
  if (range) return kind === '0 to 1' ? 0.25 : Math.min(Number(range[1]) + 3, Number(range[2]))
  const first = kind.split(/,| or /)[0]!
  if (first === '' || kind === 'list') throw new Error(`no example of "${kind}"`)
  return first === 'true' ? true : first
}

const process = { agents: { [AGENT]: { protocol: 'zot', command: 'sh' } } }

/** Files that are right with a key of this kind added to them. */
const AROUND: readonly (readonly [key: RegExp, file: Record<string, unknown>])[] = [
  [/^agents\.NAME\.(url|headers)$/, { agents: { [AGENT]: { protocol: 'openharness', url: 'http://127.0.0.1:8/v1' } } }],
  [/^agents\.NAME\.profile$/, { agents: { [AGENT]: { protocol: 'agentproc' } } }],
  [/pool\.sessions$/, { agents: { [AGENT]: { protocol: 'acp', command: 'sh' } } }],
  [/^agents\.NAME\.health/, { agents: { [AGENT]: { protocol: 'zot', command: 'sh', health: { every: '9s' } } } }],
  [/^server\.keys\[\]\.hash$/, { server: { keys: [{ name: 'a' }] }, ...process }],
  [/limits\.burst$/, { server: { keys: [{ name: 'a', env: 'CLIENT_KEY', limits: { perMinute: 9 } }] } }],
  [/^server\.(keys|host$)/, { server: { keys: [{ name: 'a', env: 'CLIENT_KEY' }] }, ...process }],
  [/^store\.(url|schema|password|ca)$/, { store: { kind: 'postgres', url: 'postgres://127.0.0.1/a' }, ...process }],
  [/^cluster/, { store: { kind: 'postgres', url: 'postgres://127.0.0.1/a' }, ...process }],
  [/^routes/, { routes: [{ agent: AGENT }], ...process }],
  [/^/, process],
]

/** A file with the value at a key, as docs/configuration.md writes keys. */
function fileWith(key: string, value: unknown): unknown {
  const file = structuredClone(AROUND.find(([pattern]) => pattern.test(key))![1])
  const steps = key.replace('NAME', AGENT).replaceAll('[]', '.0').split('.')
  const last = steps.pop()!
  let at = file
  for (const step of steps) {
    at[step] ??= {}
    at = at[step] as Record<string, unknown>
  }
  at[last] = value
  return file
}

/** The value with each of its scalars in a variable of its own. */
function asVariables(value: unknown, env: Record<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => asVariables(item, env))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asVariables(inner, env)]))
  }
  const name = `V${Object.keys(env).length}`
  env[name] = String(value)
  return `\${${name}}`
}

function read(file: unknown, env: Record<string, string>): unknown {
  try {
    const options = {
      file: 'turnpike.yaml',
      folder: '/etc/turnpike',
      codecs,
      env: { CLIENT_KEY: 'client-key', CLUSTER_SECRET: 'a secret of replicas', ...env },
    }
    // JSON is YAML.
    const { agents, ...rest } = parseConfig(JSON.stringify(file), options)
    return { ...rest, agents: [...agents], redact: undefined }
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

describe('a variable may stand at every key', () => {
  const own = rows.filter(
    ([, key, kind]) => /^[a-z]+(\.|\[|$)/.test(key!) && kind !== 'list' && !codecNames.includes(key!),
  )
  test.each(own.map(([, key, kind]) => [key!, kind!]))('%s (%s)', (key, kind) => {
    const value = key === 'agents.NAME.protocol' ? 'zot' : example(kind)
    const env: Record<string, string> = {}
    const literal = read(fileWith(key, value), {})
    expect(read(fileWith(key, asVariables(value, env)), env)).toEqual(literal)
    if (key !== 'agents.NAME.profile') expect(literal).toBeTypeOf('object')
  })

  const options = rows.filter(([, protocol]) => codecNames.includes(protocol!))
  test.each(options.map(([, ...cells]) => cells as [string, string, string]))('%s: %s (%s)', (protocol, key, kind) => {
    const reach = codecs[protocol]!.servers ? { url: 'http://127.0.0.1:8' } : { command: 'x' }
    const file = (value: unknown) => ({ agents: { a: { protocol, ...reach, [key]: value } } })
    const env: Record<string, string> = {}
    const literal = read(file(example(kind)), {})
    expect(read(file(asVariables(example(kind), env)), env)).toEqual(literal)
    expect(literal).toBeTypeOf('object')
  })
})

describe('a message about a variable', () => {
  const line = (text: string, env: Record<string, string>) => linesOf(text, env).join('\n')
  const agent = (rest: string): string => `agents: { a: { protocol: zot, command: x, ${rest} } }\n`

  test.each([
    [`telemetry: { content: "\${S}" }`, 'yes', 'telemetry.content: must be true or false'],
    [`telemetry: { content: "\${S}" }`, 'tru', 'telemetry.content: must be true or false'],
    [`server: { port: "\${S}" }`, 'number', 'server.port: must be a number'],
    [`server: { port: "\${S}" }`, '-1', 'server.port: must be at least 0'],
    [`server: { port: "\${S}" }`, '1.5', 'server.port: must be a whole number'],
    [`server: { port: "\${S}" }`, '70000', 'server.port: must be at most 65535'],
    [`log: { level: "\${S}" }`, 'e', 'log.level: must be one of silent, error, warn, info, debug'],
    [
      `log: { level: "\${S}" }`,
      'inf',
      'log.level: must be one of silent, error, warn, info, debug; did you mean "info"?',
    ],
    [
      `limits: { idle: "\${S}" }`,
      'time',
      'limits.idle: must be a time up to 24d, such as 500ms, 30s, 10m, 2h or a number of milliseconds, and not 0',
    ],
    [
      agent(`retries: "\${S}"`),
      'Expected',
      'agents.a.retries: Invalid type: Expected number but received another text',
    ],
    [`default: "\${S}"`, 'agent', `default: unknown agent "\${S}"; there are none`],
    [
      `agents: { a: { protocol: "\${S}", command: x } }`,
      'no',
      `agents.a.protocol: unknown protocol "\${S}"; known: agentproc, zot, qwen, openharness`,
    ],
    [
      `agents: { a: { protocol: "\${S}", command: x } }`,
      'zot@no',
      `agents.a.protocol: zot has no dialect "\${S}"; known: rpc`,
    ],
    [
      `agents: { a: { protocol: "zot@\${S}", command: x } }`,
      'zot',
      `agents.a.protocol: zot has no dialect "\${S}"; known: rpc`,
    ],
    [
      `agents: { a: { protocol: agentproc, profile: "\${S}/p.yaml" } }`,
      'is',
      'agents.a.profile: cannot be read (ENOENT); give the path of a profile, relative to the folder of this file',
    ],
    [
      `server: { keys: [{ name: a, env: "\${S}" }] }`,
      'set',
      `server.keys[0].env: the environment variable \${S} is not set; set it to the key: export \${S}=KEY`,
    ],
  ])('%j with %j', (text, value, message) => {
    expect(line(text, { S: value }).replace(/^\S+ /, '')).toBe(message)
  })

  test('of the log keeps the names of protocols and agents, and hides the rest', () => {
    const text = `agents: { coder-1: { protocol: "\${P}", url: "http://127.0.0.1:9", headers: { x: "\${H}" } } }\ndefault: "\${D}"\n`
    const { redact } = parse(text, { P: 'openharness', D: 'coder-1', H: 'hidden-value' })
    expect(redact('openharness coder-1 hidden-value')).toBe(`openharness coder-1 \${H}`)
  })

  test('of the log keeps the words that a key can choose from', () => {
    const text = `agents: { a: { protocol: zot, command: x, restore: "\${R}" } }\nroutes: [{ agent: a, loss: "\${L}" }]\n`
    const { redact } = parse(text, { R: 'replay', L: 'strict' })
    expect(redact('a strict replay')).toBe('a strict replay')
  })

  test("of the log hides a client's key, whatever it is", () => {
    const config = parse(`server: { keys: [{ name: a, env: K }] }`, { K: 'openharness' })
    expect(config.redact('key openharness')).toBe(`key \${K}`)
  })
})
