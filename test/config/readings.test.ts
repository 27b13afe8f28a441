import { describe, expect, test } from 'vitest'
import { readTexts } from '../../src/config/readings.ts'
import { agentRedactor, argumentSecret, createRedactor, SECRET_NAME } from '../../src/config/redact.ts'
import { TEXTS } from '../../src/config/texts.ts'
import type { AgentConfig, Config } from '../../src/config/types.ts'

describe('a text where a schema wants something else', () => {
  test.each([
    ['number', '12', 12],
    ['number', '-1.5', -1.5],
    ['int', '0', 0],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['number | undefined', '3', 3],
  ])('%s: %j is read as %j', (expected, text, value) => {
    expect(readTexts({ a: { b: text } }, [{ path: ['a', 'b'], expected }])).toEqual({ a: { b: value } })
  })

  test.each([
    ['number', 'twelve'],
    ['number', ''],
    ['number', ' 1'],
    ['number', '1e3'],
    ['number', '0x10'],
    ['boolean', 'yes'],
    ['boolean', 'True'],
    ['string', '12'],
    ['object', 'true'],
    [undefined, '12'],
  ])('%s: %j stays', (expected, text) => {
    const values = { a: text }
    expect(readTexts(values, [{ path: ['a'], expected }])).toEqual({ a: text })
  })

  test('is read in a copy, each at its place', () => {
    const values = { list: ['1', '2'], other: '3' }
    const read = readTexts(values, [
      { path: ['list', 1], expected: 'number' },
      { path: ['gone'], expected: 'number' },
    ])
    expect(read).toEqual({ list: ['1', 2], other: '3' })
    expect(values).toEqual({ list: ['1', '2'], other: '3' })
  })
})

describe('the rules for texts', () => {
  test.each<[keyof typeof TEXTS, string[], string[]]>([
    ['any', ['', 'a\0\n'], []],
    ['some', ['a', ' '], ['']],
    ['line', ['', 'Bearer x', 'é'], ['a\nb', 'a\rb', 'a\0']],
    ['variable', ['', 'a\nb'], ['a\0b']],
    ['url', ['http://h', 'HTTPS://h:1/p?q'], ['', 'h', 'ftp://h', 'http://', 'http://h:port']],
    ['database', ['postgres://h/d', 'postgresql://u:p@h:1/d', 'POSTGRES://h'], ['', 'mysql://h', 'http://h', '/d']],
  ])('%s', (rule, right, wrong) => {
    expect(right.filter((text) => !TEXTS[rule](text))).toEqual([])
    expect(wrong.filter((text) => TEXTS[rule](text))).toEqual([])
  })
})

describe('names of secrets', () => {
  test.each([
    'token',
    'API_TOKEN',
    'clientSecret',
    'password',
    'PASSWD',
    'credentials',
    'Authorization',
    'Cookie',
    'key',
    'api-key',
    'api_key',
    'x.key',
    'apikey',
    'bearer',
  ])('%s', (name) => {
    expect(SECRET_NAME.test(name)).toBe(true)
  })

  test.each(['model', 'monkey', 'keyboard', 'url', 'PATH', 'keys'])('not %s', (name) => {
    expect(SECRET_NAME.test(name)).toBe(false)
  })
})

test.each([
  [
    ['--token', 'x'],
    [undefined, 'x'],
  ],
  [['--token=x=y'], ['x=y']],
  [
    ['--api-key', '--other'],
    [undefined, '--other'],
  ],
  [
    ['--token=x', 'y'],
    ['x', undefined],
  ],
  [
    ['token', 'x'],
    [undefined, undefined],
  ],
  [
    ['--model', 'x'],
    [undefined, undefined],
  ],
  [
    ['-key', 'x'],
    [undefined, 'x'],
  ],
  [['TOKEN=x'], ['x']],
])('the secrets of the arguments %j are %j', (args, secrets) => {
  expect(args.map((_, index) => argumentSecret(args, index))).toEqual(secrets)
})

describe('a redactor', () => {
  test('puts the names of variables for their values, the longest first', () => {
    const redact = createRedactor(
      [
        { name: 'SHORT', value: 'abcdef' },
        { name: 'LONG', value: 'abcdefgh' },
        { name: 'PORT', value: '8080' },
        { name: 'ODD', value: 'a+b(c)[d]$' },
      ],
      new Set(),
      [],
    )
    expect(redact('abcdefgh abcdef 8080 a+b(c)[d]$ abcde')).toBe(`\${LONG} \${SHORT} 8080 \${ODD} abcde`)
  })

  test('leaves words of all messages, but for the key of a client', () => {
    const inserted = [{ name: 'PROTOCOL', value: 'openharness' }]
    const words = new Set(['openharness'])
    expect(createRedactor(inserted, words, [])('openharness')).toBe('openharness')
    expect(createRedactor([], words, [{ name: 'KEY', value: 'openharness' }])('openharness')).toBe(`\${KEY}`)
  })

  test('finds a value however it is escaped', () => {
    const value = 'pä"ss\\wort'
    const redact = createRedactor([{ name: 'V', value }], new Set(), [])
    const forms = [value, JSON.stringify({ value }), '"p\\u00e4\\"ss\\\\wort"', encodeURIComponent(value)]
    expect(forms.map(redact)).toEqual([`\${V}`, `{"value":"\${V}"}`, `"\${V}"`, `\${V}`])
    const agent = { args: ['--token', value], env: {} } as unknown as AgentConfig
    const config = { redact: (text: string) => text } as Config
    expect(forms.map(agentRedactor(config, agent))).toEqual(['***', '{"value":"***"}', '"***"', '***'])
  })

  test('hides the secrets of an agent in its messages', () => {
    const agent = {
      args: ['rpc', '--token', 'secret-argument', '--model', 'big-model-name'],
      env: { PLAIN: 'eight-long', SHORT: 'word', API_KEY: 'key-of-env' },
      headers: { authorization: 'Bearer header-secret', accept: 'application/json' },
    } as unknown as AgentConfig
    const config = { redact: (text: string) => text.replaceAll('from-variable', `\${V}`) } as Config
    const said =
      'secret-argument big-model-name eight-long word key-of-env header-secret application/json from-variable'
    expect(agentRedactor(config, agent)(said)).toBe(`*** big-model-name *** word *** *** application/json \${V}`)
  })
})
