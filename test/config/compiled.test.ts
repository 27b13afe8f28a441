import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Config, ConfigError, readCompiled, resolveCompiled, writeCompiled } from '../../src/config/index.ts'
import { parseAndCompile, parseConfig } from '../../src/config/load.ts'
import { CODECS } from './codecs.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-compiled-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
writeFileSync(
  join(folder, 'profile.yaml'),
  `command: ./a.sh\nargs: [1.10]\nenv: { TOKEN: "\${TOKEN}" }\ntimeout_secs: 7\n`,
)

const WHOLE = `
server:
  port: "\${PORT:-8484}"
  host: 127.0.0.1
  keys:
    - { name: a, env: CLIENT_KEY, agents: [helper], fronts: [zot], limits: { perMinute: 60, burst: 5, turns: 2 } }
    - { name: b, hash: ${'ab'.repeat(32)} }
  origins: ["https://app.example"]
  limits: { headers: 5s, connections: 99 }
default: helper
agents:
  helper: &helper { protocol: agentproc, command: "\${BIN:-./bin}/helper.sh", args: [], env: { API_KEY: "\${API_KEY}", SHARED: &s "\${WORD} and $\${WORD}" } }
  coder:  { protocol: zot, command: zot, retries: "\${RETRIES:-3}", args: [rpc, --token, "\${WORD}"], inherit: ["W*"], token: { env: ZOT_TOKEN }, pool: { idle: 10m }, wrap: [./sandbox, "--as=\${WORD}"], resources: { memory: 1GiB, cpu: 1m } }
  engine: { protocol: openharness, url: "\${URL}/v1", headers: { Authorization: "Bearer \${API_KEY}", x-a: *s } }
  local:  { protocol: agentproc, profile: profile.yaml }
  second: { <<: *helper, args: [x] }
limits: { idle: 1m, line: 1MiB }
routes: [{ when: { front: zot }, agent: coder, fallback: [helper], limits: { total: 1m } }]
telemetry: { otlp: "\${URL}", headers: { x-b: "\${WORD}" } }
store: { path: "\${DATA:-./data}/t.db" }
`
const ENV = { API_KEY: 'sk-very-secret', WORD: 'wordless', URL: 'http://far.example', CLIENT_KEY: 'client-secret' }

const options = (env: Record<string, string>) => ({ file: 'turnpike.yaml', folder, env, codecs: CODECS })
const compile = (text: string, env: Record<string, string> = ENV) => parseAndCompile(text, options(env)).compiled

/** A configuration as plain values, with what its redactor makes of a text that holds every value of the environment. */
function plain(config: Config, env: Record<string, string>): unknown {
  const redacted = config.redact(Object.values(env).join(' '))
  return { ...config, agents: [...config.agents], redact: redacted }
}

function fresh(text: string, env: Record<string, string>): unknown {
  try {
    return plain(parseConfig(text, options(env)), env)
  } catch (error) {
    if (error instanceof ConfigError) return 'wrong'
    throw error
  }
}

/** As it is read back from a file. */
function again(text: string, env: Record<string, string>): unknown {
  const compiled = JSON.parse(JSON.stringify(compile(text))) as NonNullable<ReturnType<typeof compile>>
  const config = resolveCompiled(compiled, options(env))
  return config && plain(config, env)
}

describe('a compiled configuration', () => {
  test.each<[string, Record<string, string>]>([
    ['the same environment', ENV],
    ['other values', { ...ENV, API_KEY: 'another-one', WORD: 'w2', URL: 'https://near.example', CLIENT_KEY: 'other' }],
    ['what had a default', { ...ENV, BIN: '/opt/bin', DATA: '/var/data' }],
    ['a variable that is inherited', { ...ENV, WIDE: '1' }],
    ['a number for a codec', { ...ENV, RETRIES: '7' }],
    ['a value that would be a reference', { ...ENV, WORD: '$' + '{API_KEY}' }],
  ])('gives with %s what the file gives', (_, env) => {
    expect(fresh(WHOLE, env)).not.toBe('wrong')
    expect(again(WHOLE, env)).toEqual(fresh(WHOLE, env))
  })

  test.each<[string, Record<string, string>]>([
    ['a variable that is gone', { WORD: 'w', URL: ENV.URL, CLIENT_KEY: 'c' }],
    ['a key of a client that is gone', { API_KEY: 'k', WORD: 'w', URL: ENV.URL }],
    ['no URL', { ...ENV, URL: 'far.example' }],
    ['two lines in a header', { ...ENV, WORD: 'a\nb' }],
    ['a NUL in a variable', { ...ENV, API_KEY: 'a\0b' }],
  ])('gives nothing with %s, which the file is refused for', (_, env) => {
    expect(fresh(WHOLE, env)).toBe('wrong')
    expect(again(WHOLE, env)).toBeUndefined()
  })

  test('gives nothing when a variable comes to where more than text is wanted', () => {
    expect(again(WHOLE, { ...ENV, PORT: '99' })).toBeUndefined()
  })

  test('holds nothing that came from the environment', () => {
    const text = JSON.stringify(compile(WHOLE))
    expect(Object.values(ENV).filter((value) => text.includes(value))).toEqual([])
    expect(text).toContain(`Bearer \${API_KEY}`)
  })

  test('of an empty file is that of no agents', () => {
    expect(again('', {})).toEqual(fresh('', {}))
  })
})

describe('a configuration is not compiled', () => {
  const agent = (rest: string) => `agents: { a: { protocol: zot, command: zot, ${rest} } }`
  test.each([
    ['a secret in it', agent('env: { API_KEY: sk-1234567 }')],
    ['a secret as a default', agent(`env: { API_KEY: "\${K:-sk-1234567}" }`)],
    ['half a secret', agent(`env: { API_KEY: "sk-12\${WORD}" }`)],
    ['a secret among the arguments', agent('args: [--token, abcdefg]')],
    ['a password in a URL', agent('env: { DB: "postgres://me:pass@host/" }')],
    ['a secret header', 'telemetry: { headers: { Authorization: Bearer abcdef } }'],
    ['a variable where a number is wanted', `server: { port: "\${PORT}" }`],
    ['a variable where yes or no is wanted', `telemetry: { logs: "\${LOGS}" }`],
  ])('with %s', (_, text) => {
    const env = { ...ENV, PORT: '1', LOGS: 'true' }
    expect(parseAndCompile(text, options(env))).toEqual({ config: expect.anything() })
  })
})

describe('the file of a compiled configuration', () => {
  const file = join(folder, 'turnpike.yaml')
  const of = { build: 'b1', file }
  writeFileSync(file, WHOLE)
  const kept = { config: compile(WHOLE)!, codecs: { zot: { keys: ['token'] }, agentproc: null } }

  function written(name: string): string {
    const place = join(folder, 'run', name)
    writeCompiled(place, of, kept)
    return place
  }

  test('is for its owner only, and holds what was kept', () => {
    const place = written('own')
    expect([place, join(folder, 'run')].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
      '600',
      '700',
    ])
    expect(readCompiled(place, of)).toMatchObject(JSON.parse(JSON.stringify(kept)))
    expect(Object.values(ENV).filter((value) => readFileSync(place, 'utf8').includes(value))).toEqual([])
  })

  test.each([
    ['others may read it', (place: string) => chmodSync(place, 0o640)],
    ['it is cut off', (place: string) => writeFileSync(place, readFileSync(place, 'utf8').slice(0, -9))],
    ['it is not there', (place: string) => rmSync(place)],
  ])('is not looked at when %s', (_, spoil) => {
    const place = written('spoilt')
    expect(readCompiled(place, of)).toBeDefined()
    spoil(place)
    expect(readCompiled(place, of)).toBeUndefined()
  })

  test('is not looked at through a link', () => {
    const link = join(folder, 'run', 'link')
    symlinkSync(written('target'), link)
    expect(readCompiled(link, of)).toBeUndefined()
  })

  test.skipIf(process.getuid?.() !== 0)('of somebody else is not looked at (only root can make one)', () => {
    const place = written('foreign')
    chownSync(place, 65_534, 65_534)
    expect(readCompiled(place, of)).toBeUndefined()
  })

  test('is of one build and one configuration file', () => {
    const place = written('which')
    expect(readCompiled(place, { ...of, build: 'b2' })).toBeUndefined()
    expect(readCompiled(place, { ...of, file: join(folder, 'profile.yaml') })).toBeUndefined()
  })

  test.each(['turnpike.yaml', 'profile.yaml'])('is out of date when one character of %s is another', (name) => {
    const place = written('dated')
    const source = join(folder, name)
    const before = readFileSync(source, 'utf8')
    writeFileSync(source, before.replace(/.$/m, '#'))
    expect(readCompiled(place, of)).toBeUndefined()
    writeFileSync(source, before)
    expect(readCompiled(place, of)).toBeDefined()
  })

  test('is not written into a folder that others may write to', () => {
    const open = mkdtempSync(join(folder, 'open-'))
    chmodSync(open, 0o777)
    writeCompiled(join(open, 'x'), of, kept)
    expect(readCompiled(join(open, 'x'), of)).toBeUndefined()
  })
})

describe('a text that names a variable has the rule of its place', () => {
  const zot = (rest: string): string => `agents: { a: { protocol: zot, ${rest} } }`
  const http = (rest: string): string => `agents: { a: { protocol: openharness, ${rest} } }`
  const V = '"$' + '{V}"'

  /** A file, a value of its variable that is right, and one that the file is refused for. */
  test.each<[place: string, text: string, right: string, wrong: string]>([
    ['the command of an agent', zot(`command: ${V}`), 'zot', ''],
    ['its folder', zot(`command: zot, cwd: ${V}`), 'work', ''],
    ['its wrapper', zot(`command: zot, wrap: [${V}]`), 'sandbox', ''],
    ['its workspaces', zot(`command: zot, workspaces: [${V}]`), '/work', ''],
    ['its environment', zot(`command: zot, env: { A: ${V} }`), 'two\nlines', 'a\0b'],
    ['its URL', http(`url: ${V}`), 'http://near.example', 'near.example'],
    ['its headers', http(`url: "http://h", headers: { x-a: ${V} }`), 'word', 'a\r\nb'],
    ['its labels', zot(`command: zot, placement: [${V}]`), 'gpu', ''],
    ['the collector', `telemetry: { otlp: ${V} }`, 'http://near.example', 'ftp://near.example'],
    ['the pages of the collector', `telemetry: { traces: ${V} }`, 'https://near.example/{trace}', 'near'],
    ['the headers for the collector', `telemetry: { otlp: "http://h", headers: { x-a: ${V} } }`, 'word', 'a\nb'],
    ['the file of the store', `store: { path: ${V} }`, './data/t.db', ''],
  ])('%s', (_place, text, right, wrong) => {
    const file = (value: string): unknown => fresh(text, { V: value })
    const compiled = JSON.parse(JSON.stringify(compile(text, { V: right }))) as NonNullable<ReturnType<typeof compile>>
    const kept = (value: string): unknown => {
      const env = { V: value }
      const config = resolveCompiled(compiled, options(env))
      return config && plain(config, env)
    }
    expect(file(right)).not.toBe('wrong')
    expect(kept(right)).toEqual(file(right))
    expect(file(wrong)).toBe('wrong')
    expect(kept(wrong)).toBeUndefined()
  })

  test('and any text among the arguments of an agent', () => {
    const text = zot(`command: zot, args: [${V}]`)
    for (const value of ['', 'a\nb', 'word']) {
      const config = resolveCompiled(compile(text, { V: 'x' })!, options({ V: value }))
      expect(config?.agents.get('a')?.args).toEqual([value])
    }
  })
})

describe('a profile of a compiled configuration', () => {
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return `agents: { a: { protocol: agentproc, profile: ${name} } }`
  }

  test('is kept with it, unless a secret is in it', () => {
    expect(compile(write('plain.yaml', 'command: a.sh\nenv: { MODE: fast }\n'))).toBeDefined()
    expect(compile(write('secret.yaml', 'command: a.sh\nenv: { API_KEY: sk-1234567 }\n'))).toBeUndefined()
    expect(compile(write('url.yaml', 'command: a.sh\nenv: { DB: "postgres://me:pw@h/" }\n'))).toBeUndefined()
    expect(compile(write('token.yaml', 'command: a.sh\nargs: [--token, abcdef]\n'))).toBeUndefined()
  })

  test('has its warnings told each time: it is not compiled', () => {
    const text = write('warned.yaml', 'command: a.sh\nnobody_knows: 1\n')
    expect(parseConfig(text, options(ENV)).warnings).toHaveLength(1)
    expect(compile(text)).toBeUndefined()
  })
})

test.each([
  ['a number that JSON has not', 'agents: { a: { protocol: zot, command: zot, retries: .inf } }'],
  ['a variable in a list of numbers', 'limits: { queue: "$' + '{QUEUE}" }'],
])('%s is not compiled', (_what, text) => {
  const env = { ...ENV, QUEUE: '3' }
  expect(parseAndCompile(text, options(env))).not.toHaveProperty('compiled')
})

test.each([
  ['the name of a variable', 'agents: { a: { protocol: zot, command: zot, token: { env: MY_TOKEN } } }', true],
  ['a variable', 'agents: { a: { protocol: zot, command: zot, env: { TOKEN: "$' + '{API_KEY}" } } }', true],
  [
    'a variable after the word for its scheme',
    'telemetry: { otlp: "http://h", headers: { authorization: "Bearer $' + '{WORD}" } }',
    true,
  ],
  [
    'a variable after another word',
    'telemetry: { otlp: "http://h", headers: { authorization: "Digest $' + '{WORD}" } }',
    false,
  ],
  ['a text below the key of a secret', 'agents: { a: { protocol: zot, command: zot, env: { PASSWORD: x } } }', false],
  ['an argument with its value', 'agents: { a: { protocol: zot, command: zot, args: ["--token=abc"] } }', false],
  [
    'an argument with a variable',
    'agents: { a: { protocol: zot, command: zot, args: ["--token=$' + '{WORD}"] } }',
    true,
  ],
])('a secret that is %s lets the file be compiled: %3$s', (_what, text, is) => {
  expect(compile(text) !== undefined).toBe(is)
})
