import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LogOptions, REDACTED, redactor } from '../../observability/index.ts'
import { createLog } from '../../observability/logs.ts'

const CANARY = 'c4n4ry/"quoted"+/canary value'

function collector(options: Omit<LogOptions, 'destination'>, isTTY = false) {
  const lines: string[] = []
  const log = createLog({ ...options, destination: { write: (line) => lines.push(line), isTTY } })
  return { log, lines, json: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('the log', () => {
  test('writes one JSON line an entry', () => {
    const { log, lines, json } = collector({ level: 'debug' })
    log.debug('a', { turn: 't1' })
    log.info('b')
    log.warn('c\nd', { n: 1 })
    log.error('e %s', { list: [1, 'x'] })
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(json().map(({ time, ...rest }) => rest)).toEqual([
      { level: 'debug', pid: process.pid, turn: 't1', msg: 'a' },
      { level: 'info', pid: process.pid, msg: 'b' },
      { level: 'warn', pid: process.pid, n: 1, msg: 'c\nd' },
      { level: 'error', pid: process.pid, list: [1, 'x'], msg: 'e %s' },
    ])
    for (const { time } of json()) expect(new Date(time as string).toISOString()).toBe(time)
  })

  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ] as const)('at level %s keeps what is at least as serious', (level, kept) => {
    const { log, json } = collector({ level })
    log.debug('')
    log.info('')
    log.warn('')
    log.error('')
    expect(json().map((line) => line['level'])).toEqual(kept)
  })

  test('keeps its own fields apart from those of the caller', () => {
    const { log, lines, json } = collector({ level: 'info' })
    log.info('said', { msg: 'm', level: 'l', time: 't', pid: 'p' })
    expect(json()[0]).toMatchObject({ level: 'info', msg: 'said', msg_: 'm', level_: 'l', time_: 't', pid_: 'p' })
    expect(lines[0]?.match(/"msg":/g)).toHaveLength(1)
  })

  test('names the trace that an entry belongs to, where its context is one', () => {
    const { log, json } = collector({ level: 'info' })
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    log.warn('a', { turn: 't1', traceparent })
    log.warn('b', { turn: 't2', traceparent: 'rubbish' })
    log.warn('c', { turn: 't3', traceparent: undefined })
    expect(json().map(({ time, pid, level, ...rest }) => rest)).toEqual([
      { msg: 'a', turn: 't1', trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' },
      { msg: 'b', turn: 't2' },
      { msg: 'c', turn: 't3' },
    ])
  })

  test('for people: one line, values after the message, no control characters', () => {
    const { log, lines } = collector({ level: 'debug', pretty: true })
    log.warn('agent said \u001b[2J\r\nclear', { agent: 'helper', n: 3, said: 'two words', evil: '\u009b2J' })
    expect(lines[0]?.slice(0, 12)).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/)
    expect(lines[0]?.slice(12)).toBe(
      ' WARN  agent said \\u001b[2J\\u000d\\u000aclear agent=helper n=3 said="two words" evil="\\u009b2J"\n',
    )
  })

  test('for people by default on a terminal, with a coloured level', () => {
    const before = process.env['NO_COLOR']
    delete process.env['NO_COLOR']
    const { log, lines } = collector({ level: 'info' }, true)
    log.error('gone')
    if (before !== undefined) process.env['NO_COLOR'] = before
    expect(lines[0]?.slice(12)).toBe(' \u001b[31mERROR\u001b[0m gone\n')
  })

  test('goes to stderr by default, whole, also when the process exits at once', async () => {
    const { stdout, stderr, code } = await run(`
      import { openLog, redactor } from './observability/index.ts'
      const log = await openLog({ level: 'info', redact: redactor(['hunter22']) })
      for (let n = 0; n < 500; n += 1) log.info('line hunter22', { n })
      process.exit(3)
    `)
    expect(stdout).toBe('')
    expect(code).toBe(3)
    const lines = stderr.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([...Array(500).keys()])
    expect(stderr).not.toContain('hunter22')
  })
})

describe('redaction by name', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'x-api-key',
    'X-Goog-Api-Key',
    'apiKey',
    'OPENAI_API_KEY',
    'client_secret',
    'DB_PASSWORD',
    'passwd',
    'accessToken',
    'GITHUB_TOKEN',
    'id_token',
    'credentials',
    'privateKey',
  ])('%s', (key) => {
    const value = redactor().value({ [key]: 'abc', deep: [{ [key]: { inner: ['abc'] } }], kept: 'abc' })
    expect(value).toEqual({ [key]: REDACTED, deep: [{ [key]: { inner: [REDACTED] } }], kept: 'abc' })
  })

  test('counts of tokens are kept, numeric passwords are not', () => {
    expect(redactor().value({ input_tokens: 5, tokens: { output: 7, of: 'x' }, password: 1234 })).toEqual({
      input_tokens: 5,
      tokens: { output: 7, of: REDACTED },
      password: REDACTED,
    })
  })
})

describe('redaction by shape', () => {
  test.each([
    ['sent Bearer abcdefgh.ijklmnop-1 on', 'sent Bearer [redacted] on'],
    ['Authorization: Basic dXNlcg==', 'Authorization: [redacted]'],
    ['https://user:pass@host/path', 'https://[redacted]@host/path'],
    ['GET /a?x=1&access_token=abc&y=2', 'GET /a?x=1&access_token=[redacted]&y=2'],
    ['--api-key=abc --model=x', '--api-key=[redacted] --model=x'],
    ['{"api_key": "a \\" b","n":1}', '{"api_key": "[redacted]","n":1}'],
    ['Basic authentication is off', 'Basic authentication is off'],
    ['used 5 tokens', 'used 5 tokens'],
  ])('%s', (raw, clean) => {
    expect(redactor().text(raw)).toBe(clean)
  })
})

describe('redaction by value', () => {
  const redact = redactor([CANARY, 'hunter22', 'hunter22-longer', '', 'abc'])

  test('in every form and everywhere', () => {
    const error = Object.assign(new Error(`failed with ${CANARY}`, { cause: `because ${CANARY}` }), { detail: CANARY })
    const fields = {
      text: `a ${CANARY} b ${CANARY}`,
      url: new URL(`http://host/?q=${encodeURIComponent(CANARY)}`),
      json: JSON.stringify({ key: CANARY }),
      base64: Buffer.from(CANARY).toString('base64'),
      [`key ${CANARY}`]: 1,
      list: [{ deep: CANARY }],
      error,
    }
    const { log, lines } = collector({ level: 'info', redact })
    log.info(`message ${CANARY}`, fields)
    log.info('only fields', { error })
    const pretty = collector({ level: 'info', redact, pretty: true })
    pretty.log.info(`message ${CANARY}`, fields)
    const written = [...lines, ...pretty.lines].join('')
    expect(written).not.toContain('c4n4ry')
    expect(written).not.toContain(Buffer.from(CANARY).toString('base64'))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'message [redacted]',
      text: 'a [redacted] b [redacted]',
      url: 'http://host/?q=[redacted]',
      json: '{"key":"[redacted]"}',
      base64: REDACTED,
      'key [redacted]': 1,
      list: [{ deep: REDACTED }],
      error: { name: 'Error', message: 'failed with [redacted]', cause: 'because [redacted]', detail: REDACTED },
    })
  })

  test('the longest first, short ones never', () => {
    expect(redact.text('hunter22-longer hunter22 abc')).toBe('[redacted] [redacted] abc')
  })

  test('before long texts are cut, so that no half of a secret is left', () => {
    const text = `${'x'.repeat(16_380)}hunter22${'y'.repeat(100)}`
    expect(redact.text(text)).toBe(`${'x'.repeat(16_380)}[red… (106 more)`)
  })

  test('no registered secret survives in any value', () => {
    const secret = fc.string({ minLength: 6, maxLength: 20 })
    fc.assert(
      fc.property(secret, fc.json({ maxDepth: 4 }), (value, json) => {
        const planted = JSON.parse(json, (_key, inner: unknown) => (typeof inner === 'string' ? inner + value : inner))
        const clean = redactor([value]).value({ planted, text: `<${value}>` })
        const leaks: string[] = []
        JSON.stringify(clean, (key, inner: unknown) => {
          const text = typeof inner === 'string' ? inner.replaceAll(REDACTED, '\u0000') : ''
          if (text.includes(value) || key.replaceAll(REDACTED, '\u0000').includes(value)) leaks.push(text)
          return inner
        })
        expect(leaks).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

describe('hostile values', () => {
  test('cycles, depth, width, getters that throw, bytes, functions, prototypes', () => {
    const cycle: Record<string, unknown> = { name: 'cycle', big: 12n, fn: () => 1, none: undefined, when: new Date(0) }
    cycle['self'] = cycle
    let deep: unknown = 'bottom'
    for (let n = 0; n < 20; n += 1) deep = { deep }
    const throws = Object.defineProperty({}, 'boom', { enumerable: true, get: () => assertNever() })
    const { log, json } = collector({ level: 'info' })
    log.info('x', { cycle, deep, throws, bytes: Buffer.from('abc'), wide: Array(150).fill(0) })
    log.info('y', JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>)
    const [first, second] = json()
    expect(first?.['cycle']).toEqual({ name: 'cycle', big: '12', when: '1970-01-01T00:00:00.000Z', self: '[circular]' })
    expect(JSON.stringify(first?.['deep'])).toBe(`${'{"deep":'.repeat(7)}"[deep]"${'}'.repeat(7)}`)
    expect(first?.['throws']).toBe('[unreadable]')
    expect(first?.['bytes']).toBe('[3 bytes]')
    expect(first?.['wide']).toEqual([...Array(100).fill(0), '… (50 more)'])
    expect(second?.['msg']).toBe('y')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

function assertNever(): never {
  throw new Error('read')
}

async function run(code: string): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { stdout, stderr, code: status }
}
