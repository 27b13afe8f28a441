import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, ROOT } from '../kit/gateway.ts'

/** The exit codes of Zene's section "Exit Code Semantics" that are no answer's own, and what other protocols have instead. */

const REQUEST = '{"request_id":"r1","session_id":"s1","prompt":"hi"}\n'
const unusable = (file: string, what = 'configuration', how = 'check'): string =>
  `turnpike: the ${what} cannot be used; run "turnpike ${how} --config ${file}" to see why`

interface Ran {
  stdout: string
  stderr: string
  code: number | null
}

/** `stdout` is where standard output goes, if not here. The input stays open, as clients leave it. */
function run(
  args: readonly string[],
  input: string,
  {
    env = {},
    cwd,
    stdout,
    ends = false,
  }: { env?: Record<string, string>; cwd?: string; stdout?: number; ends?: boolean } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [join(ROOT, 'dist/turnpike.cjs'), 'as', ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  })
  const ran: Ran = { stdout: '', stderr: '', code: null }
  child.stdout?.on('data', (bytes: Buffer) => {
    ran.stdout += String(bytes)
  })
  child.stderr!.on('data', (bytes: Buffer) => {
    ran.stderr += String(bytes)
  })
  child.stdin!.on('error', () => {})
  child.stdin!.write(input)
  if (ends) child.stdin!.end()
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...ran, code })))
}

describe('exit codes of stand-ins', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-exits-'))
  const config = join(folder, 'turnpike.yaml')
  const bad = join(folder, 'bad.yaml')
  const blocked = join(folder, 'blocked.yaml')

  beforeAll(() => {
    const agents = `default: helper\nagents:${EXAMPLE_AGENTS}`
    writeFileSync(config, `server: { port: 0 }\n${agents}store: { kind: sqlite, path: ./turnpike.db }\n`)
    writeFileSync(bad, 'agents:\n  a: { protocol: zot, comand: zot }\n')
    writeFileSync(join(folder, 'file'), '')
    writeFileSync(blocked, `${agents}store: { kind: sqlite, path: ./file/turnpike.db }\n`)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const flat = (message: string): object => ({
    ok: false,
    request_id: 'r1',
    session_id: 's1',
    text: '',
    error_code: 'INTERNAL',
    error_message: message,
  })

  test.each([
    ['a file with a mistake', () => bad, unusable],
    ['no file', () => join(folder, 'none.yaml'), unusable],
    ['a store that cannot be opened', () => blocked, (file: string) => unusable(file, 'store', 'store migrate')],
  ])('zene, 3: %s is told as an answer, and in the first line of stderr', async (_name, file, told) => {
    const message = told(file())
    const ran = await run(['zene', 'host', '--protocol', 'v1', '--bridge-compat', '--config', file()], REQUEST)
    expect(ran).toEqual({ stdout: expect.any(String), stderr: `${message}\n`, code: 3 })
    expect(ran.stdout.endsWith('\n')).toBe(true)
    expect(JSON.parse(ran.stdout)).toMatchObject(flat(message))
  })

  test('zene, 3: a gateway that is not there', async () => {
    const message = 'turnpike: no gateway answers at TURNPIKE_URL; start it, or unset the variable'
    const ran = await run(['zene'], REQUEST, { env: { TURNPIKE_URL: 'unix:/nowhere.sock' } })
    expect(JSON.parse(ran.stdout)).toMatchObject(flat(message))
    expect(ran).toMatchObject({ stderr: `${message}\n`, code: 3 })
  })

  test.each(['127.0.0.1:8484', 'localhost:8484', 'ftp://localhost', 'https://:80:80'])(
    'zene, 3: %s is not a valid address',
    async (url) => {
      const message =
        'turnpike: TURNPIKE_URL is not a valid address; write it as http://HOST:PORT, https://HOST or unix:PATH'
      const ran = await run(['zene'], REQUEST, { env: { TURNPIKE_URL: url } })
      expect(JSON.parse(ran.stdout)).toMatchObject(flat(message))
      expect(ran).toMatchObject({ stderr: `${message}\n`, code: 3 })
    },
  )

  test('zene, 3: a gateway over TLS that is not there, by its address', async () => {
    const message = 'turnpike: no gateway answers at TURNPIKE_URL; start it, or unset the variable'
    const ran = await run(['zene'], REQUEST, { env: { TURNPIKE_URL: 'https://127.0.0.1:9' } })
    expect(ran).toMatchObject({ stderr: `${message}\n`, code: 3 })
  })

  test('zene, 3: without a request the answer is that of the protocol', async () => {
    const ran = await run(['zene', '--config', bad], '', { ends: true })
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ok: false,
      error_code: 'INVALID_REQUEST',
      error_message: 'stdin ended before a request came',
    })
    expect(ran).toMatchObject({ stderr: `${unusable(bad)}\n`, code: 3 })
  })

  test('zene, 2: arguments that cannot be read', async () => {
    expect(await run(['zene', '--agent'], REQUEST)).toEqual({
      stdout: '',
      stderr: 'turnpike as: --agent needs a value; see turnpike help as\n',
      code: 2,
    })
  })

  test.each([
    ['openharness', '{"protocol_version":"1.0.0","request_id":"q1","request":{"context":{"user_intent":"hi"}}}', 1],
    ['agentproc', '{"type":"turn","message":"hi","session_id":"","session_name":"","protocol_version":"0.4"}\n', 1],
  ])('%s answers too, with its own exit code', async (protocol, request, code) => {
    const ran = await run([protocol, '--config', bad], request, { ends: true })
    expect(ran).toMatchObject({ stderr: `${unusable(bad)}\n`, code })
    expect(ran.stdout).toContain(JSON.stringify(unusable(bad)))
    expect(ran.stdout.trimEnd().split('\n')).toHaveLength(1)
  })

  test('who has a process for many requests is told in full on stderr, and in short as the answer', async () => {
    const ran = await run(['zot', 'rpc', '--config', bad], '{"id":"1","type":"get_state"}\n')
    expect(ran.stderr).toContain('did you mean "command"?')
    expect(ran.code).toBe(3)
    expect(JSON.parse(ran.stdout)).toEqual({
      type: 'response',
      id: '1',
      command: 'get_state',
      success: false,
      error: unusable(bad),
    })
  })

  describe('without any configuration', () => {
    const empty = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-empty-')))
    afterAll(() => rmSync(empty, { recursive: true, force: true }))
    const NONE =
      `turnpike: there is no turnpike.yaml in ${empty}; name a configuration with TURNPIKE_CONFIG or --config, ` +
      'or a running gateway with TURNPIKE_URL (http://HOST:PORT or unix:PATH)'
    const json = ['--input-format', 'stream-json', '--output-format', 'stream-json']
    const shipped =
      '{"type":"user","session_id":"","message":{"role":"user","content":"hi"},"parent_tool_use_id":null}\n'
    const last = (text: string): unknown => JSON.parse(text.trimEnd().split('\n').at(-1)!)

    test.each<
      [
        name: string,
        args: string[],
        input: string,
        code: number,
        answer: (stdout: string) => unknown,
        expected: unknown,
      ]
    >([
      [
        'native',
        ['native'],
        '{"type":"turn-start","input":"hi"}\n',
        3,
        last,
        { outcome: 'failed', fault: { message: NONE } },
      ],
      ['zene', ['zene'], REQUEST, 3, last, flat(NONE)],
      [
        'zene, many requests',
        ['zene', 'host', '--protocol', 'v1', '--single-request=false'],
        REQUEST,
        3,
        last,
        { type: 'final', request_id: 'r1', status: 'ERROR', error: { message: NONE } },
      ],
      [
        'zot',
        ['zot', 'rpc'],
        '{"id":"1","type":"prompt","message":"hi"}\n',
        3,
        (stdout) =>
          stdout
            .trimEnd()
            .split('\n')
            .slice(-2)
            .map((line) => JSON.parse(line)),
        [{ type: 'error', message: NONE }, { type: 'done' }],
      ],
      [
        'openharness',
        ['openharness'],
        '{"protocol_version":"1.0.0","request_id":"q1","request":{"context":{"user_intent":"hi"}}}\n',
        1,
        last,
        { request_id: 'q1', response: { status: 'error', error: { message: NONE } } },
      ],
      [
        'agentproc 0.4',
        ['agentproc'],
        '{"type":"turn","message":"hi","session_id":"","session_name":"","protocol_version":"0.4"}\n',
        1,
        last,
        { type: 'error', message: NONE },
      ],
      [
        'qwen',
        ['qwen', '--input-format', 'stream-json', '--output-format', 'stream-chunk-json'],
        '{"session_id":"s","prompt_id":"s########1","input":{"origin":"user","parts":[{"type":"text","text":"hi"}],"command":null}}\n',
        1,
        last,
        { error: { message: NONE } },
      ],
      [
        'qwen-code',
        ['qwen-code', ...json],
        shipped,
        3,
        last,
        { type: 'result', is_error: true, error: { message: NONE } },
      ],
      [
        'qwen-code, a prompt in its arguments',
        ['qwen-code', '-p', 'hi', '--output-format', 'json'],
        '',
        1,
        (stdout) => (JSON.parse(stdout) as unknown[]).at(-1),
        { type: 'result', is_error: true, error: { message: NONE } },
      ],
    ])('%s fails in its protocol, and says what to do', async (_name, args, input, code, answer, expected) => {
      const ran = await run(args, input, {
        cwd: empty,
        env: { TURNPIKE_CONFIG: '', TURNPIKE_URL: '' },
        ends: args[0] === 'openharness',
      })
      expect(ran).toMatchObject({ stderr: `${NONE}\n`, code })
      expect(answer(ran.stdout)).toMatchObject(expected as object)
    })

    test.each([
      ['native', '{"type":"turn-start","request":"r1","input":"hi"}\n', 3],
      ['openharness', '{"protocol_version":"1.0.0","request":{"context":{"user_intent":"hi"}}}\n', 1],
      ['agentproc', '{"type":"turn","message":"hi"}\n', 1],
    ])('%s takes no arguments', async (protocol, input, code) => {
      const why = `turnpike: unexpected argument "--token"; a stand-in for ${protocol} takes --agent and --config`
      const ran = await run([protocol, '--token=secret'], input, { cwd: empty, ends: protocol === 'openharness' })
      expect(ran).toMatchObject({ stderr: `${why}\n`, code })
      expect(ran.stdout).toContain(JSON.stringify(why).slice(1, -1))
    })

    test('what needs no agent is answered', async () => {
      const env = { TURNPIKE_CONFIG: '', TURNPIKE_URL: '' }
      const close = '{"protocol_version":1,"type":"session_close","request_id":"z1"}\n'
      const closed = await run(['zene', 'host', '--protocol', 'v1', '--single-request=false'], close, {
        cwd: empty,
        env,
        ends: true,
      })
      expect(JSON.parse(closed.stdout)).toMatchObject({ type: 'ack', request_id: 'z1', status: 'SESSION_CLOSED' })
      expect(closed).toMatchObject({ stderr: `${NONE}\n`, code: 3 })
      const hello = '{"id":"1","type":"hello"}\n{"id":"2","type":"prompt","message":"hi"}\n'
      const asked = await run(['zot', 'rpc'], hello, { cwd: empty, env })
      const lines = asked.stdout.trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { id: '1', command: 'hello', success: true },
        { id: '2', command: 'prompt', success: true },
        { type: 'user_message' },
        { type: 'error', message: NONE },
        { type: 'done' },
      ])
    })

    test('agentproc 0.1, which is asked by its environment', async () => {
      const env = { TURNPIKE_CONFIG: '', TURNPIKE_URL: '', AGENT_MESSAGE: 'hi', AGENT_PROTOCOL_VERSION: '0.1' }
      const ran = await run(['agentproc'], '', { cwd: empty, env })
      expect(ran).toMatchObject({ stderr: `${NONE}\n`, code: 1 })
      expect(ran.stdout.split('\n')).toContain(`AGENT_ERROR:${JSON.stringify(NONE)}`)
    })
  })

  describe.skipIf(!existsSync('/dev/full'))('an answer that cannot be written', () => {
    const FULL = 'turnpike: the answer could not be written to standard output (ENOSPC)\n'
    const cases = [
      ['zene', ['zene'], REQUEST, 4],
      ['zot', ['zot', 'rpc'], '{"id":"1","type":"ping"}\n', 1],
    ] as const
    const full = (args: readonly string[], input: string): Promise<Ran> =>
      run([...args, '--config', config], input, { stdout: openSync('/dev/full', 'w') })

    test.each(cases)('%s alone', async (_name, args, input, code) => {
      expect(await full(args, input)).toEqual({ stdout: '', stderr: FULL, code })
    })

    describe('of a running gateway', () => {
      let gateway: ChildProcess
      beforeAll(async () => {
        const serve = [join(ROOT, 'dist/turnpike.cjs'), 'serve', '--config', config]
        gateway = spawn(process.execPath, serve, { stdio: ['ignore', 'pipe', 'inherit'] })
        await once(gateway.stdout!, 'data')
      })
      afterAll(async () => {
        const ended = once(gateway, 'exit')
        gateway.kill('SIGTERM')
        await ended
      })

      test.each(cases)('%s', async (_name, args, input, code) => {
        expect(await full(args, input)).toEqual({ stdout: '', stderr: FULL, code })
      })
    })
  })
})
