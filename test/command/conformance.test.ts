import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { MODEL } from '../../src/conformance/index.ts'
import { runTurnpike } from '../kit/clients.ts'
import { GOOD, outcomeOf } from '../kit/conformance.ts'
import { AGENTS, EXAMPLE_AGENTS, ROOT, startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'

const CODER = [process.execPath, ...GOOD['zot']!]
vi.setConfig({ maxConcurrency: 4 })
const FORMATS = ['--input-format', 'stream-json', '--output-format']

describe('turnpike conformance', () => {
  test('prints a line for every rule and a summary', async () => {
    const ran = await runTurnpike(['conformance', 'zot', '--', ...CODER], '')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const lines = ran.stdout.split('\n')
    expect(lines[0]).toBe('passed  zot.5.stdout-objects (5 Wire format)')
    expect(lines.slice(-2)).toEqual(['27 passed, 0 broken, 0 skipped', ''])
    expect(lines).toHaveLength(29)
  })

  test('names the broken rule, its section, what was expected and what was seen', async () => {
    const broken = `const say = (frame) => console.log(JSON.stringify(frame))
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        if (line.includes('x1')) return say({ type: 'response', command: '', success: false, error: 'no JSON' })
        const { id, type: command } = JSON.parse(line)
        say({ type: 'response', id, command, success: true, data: { pong: '\\u001b[31m' + 'x'.repeat(500) } })
        if (command === 'prompt') say({ type: 'done', id })
      })`
    const args = [
      'conformance',
      'zot',
      '--only',
      'zot.5.2.ping-pong',
      '--timeout',
      '5',
      '--',
      process.execPath,
      '-e',
      broken,
    ]
    const ran = await runTurnpike(args, '')
    expect(ran).toMatchObject({ code: 1, stderr: '' })
    const [line, summary] = ran.stdout.split('\n')
    expect(line).toMatch(
      /^BROKEN {2}zot\.5\.2\.ping-pong \(5\.2 Commands\): expected: ping is answered with `data\.pong` true; seen: in scenario commands: \{"type":"response","id":"i1",.*x…$/,
    )
    expect(line).not.toContain('\u001b')
    expect(line!.length).toBeLessThan(340)
    expect(summary).toBe('0 passed, 1 broken, 0 skipped')
  })

  test('gives the same as JSON', async () => {
    const args = ['conformance', 'zot', '--format', 'json', '--only', 'zot.11.hello-version', '--', ...CODER]
    const ran = await runTurnpike(args, '')
    expect(JSON.parse(ran.stdout)).toEqual({
      protocol: 'zot',
      side: 'agent',
      results: [
        {
          rule: 'zot.11.hello-version',
          section: '11 Versioning',
          expected: 'the response to hello has `data.protocol_version` 1',
          status: 'passed',
        },
      ],
      passed: 1,
      broken: 0,
      skipped: 0,
    })
  })

  test('tests a client, which finds the stand-in on its PATH and in its arguments', async () => {
    const script = '{ printf \'{"id":"1","type":"ping"}\\n\'; } | zot rpc >/dev/null'
    const named = await runTurnpike(['conformance', 'zot', '--client', '--', '/bin/sh', '-c', script], '')
    expect(named).toMatchObject({ code: 0, stderr: '' })
    expect(named.stdout).toContain('passed  zot.client.3.rpc-mode (3 Flags)')
    const placed = [
      'conformance',
      'zot',
      '--client',
      '--',
      '/bin/sh',
      '-c',
      'echo hello | "$0" rpc >/dev/null',
      '{command}',
    ]
    const ran = await runTurnpike(placed, '')
    expect(ran.code).toBe(1)
    expect(ran.stdout).toContain('BROKEN  zot.client.5.objects (5 Wire format)')
    const silent = await runTurnpike(['conformance', 'zot', '--client', '--', 'true'], '')
    expect(silent.stdout).toContain(
      'skipped zot.client.5.objects (5 Wire format): the client never reached the stand-in',
    )
  })

  test('tests an agent and a client against a behaviour of the other side', async () => {
    const agent = await runTurnpike(['conformance', 'zot', '--hostile', '--only', 'garbage-line', '--', ...CODER], '')
    expect(agent).toEqual({
      code: 0,
      stderr: '',
      stdout: 'passed  zot.hostile.garbage-line (5 Wire format)\n1 passed, 0 broken, 0 skipped\n',
    })
    const client = [process.execPath, join(ROOT, 'test/kit/hostile-clients.mjs'), 'zot', 'nul-in-text']
    const only = ['--only', 'zot.client.hostile.nul-in-text', '--format', 'json']
    const ran = await runTurnpike(['conformance', 'zot', '--client', '--hostile', ...only, '--', ...client], '')
    expect(ran).toMatchObject({ code: 1, stderr: '' })
    expect(JSON.parse(ran.stdout)).toEqual({
      protocol: 'zot',
      side: 'client',
      results: [
        {
          rule: 'zot.client.hostile.nul-in-text',
          section: '5 Wire format',
          expected: 'where the agent says NUL, as JSON has it, the client shows the whole answer and exits with 0',
          status: 'broken',
          seen: 'it exited with 0, but the answer is not shown: "All well."',
        },
      ],
      passed: 0,
      broken: 1,
      skipped: 0,
    })
    const mute = await runTurnpike(['conformance', 'zot', '--client', '--hostile', '--', 'true'], '')
    expect(mute.stdout).toContain('skipped zot.client.hostile.answers-well (5 Wire format): the client never reached')
  })

  test.each([
    [['conformance'], 'name a protocol: native, zene, zot'],
    [['conformance', 'zot'], 'name the program to test after --, or its --url'],
    [['conformance', 'zot@2', '--', 'x'], 'zot has no @2; it has @rpc'],
    [['conformance', 'zot', '--url', 'http://127.0.0.1:1/'], 'this protocol works on stdio'],
    [['conformance', 'openharness', '--url', 'file:///x'], 'is not an http: or https: URL'],
    [['conformance', 'openharness', '--client', '--url', 'http://x/'], '--url is for an agent'],
    [['conformance', 'zot', '--format', 'xml', '--', 'x'], '--format must be text or json'],
    [['conformance', 'zot', '--timeout', 'soon', '--', 'x'], '--timeout must be a positive number of seconds'],
    [
      ['conformance', 'zot', '--only', 'zot.1', '--', 'x'],
      'there is no rule zot.1; the rules are: zot.5.stdout-objects',
    ],
    [['conformance', 'zot', '--verbose', '--', 'x'], 'unknown option --verbose'],
    [
      ['conformance', 'zot', '--hostile', '--only', 'zot.5.2.abort', '--', 'x'],
      'the rules are: answers-well, says-nothing',
    ],
    [['conformance', 'zot', '--client', '--hostile', '--only', 'ids-are-0', '--', 'x'], 'there is no rule ids-are-0'],
  ])('%j is wrong usage', async (args, message) => {
    const ran = await runTurnpike(args, '')
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain(message)
  })

  test.each([
    [['conformance', 'zot', '--', '/no/such/agent']],
    [['conformance', 'zot', '--client', '--', '/no/such/client']],
    [['conformance', 'openharness', '--url', 'http://127.0.0.1:1/']],
  ])('%j cannot be run', async (args) => {
    const ran = await runTurnpike(args, '')
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    expect(ran.stderr).toMatch(/^turnpike conformance: the program could not be run: /)
  })
})

describe('our own', { concurrent: true }, () => {
  let gateway: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
    folder = mkdtempSync(join(tmpdir(), 'turnpike-conformance-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(config, `default: helper\nagents:${EXAMPLE_AGENTS}store: { kind: sqlite, path: ./t.db }\n`)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('shell script of an agent breaks no rule', async ({ expect }) => {
    const { told } = await outcomeOf('agentproc', { command: join(AGENTS, 'helper.sh'), args: [], cwd: ROOT })
    expect(told.filter(({ status }) => status === 'broken')).toEqual([])
  })

  test.for<[name: string, agent: string, argv: string[]]>([
    ['zene', 'planner', ['zene', 'host', '--protocol', 'v1', '--bridge-compat', '--single-request']],
    ['zene', 'coder', ['zene', 'host', '--protocol', 'v1']],
    ['zene@stream', 'writer', ['zene', 'host', '--protocol', 'v1', '--single-request', 'false']],
    ['zot', 'helper', ['zot', 'rpc']],
    ['agentproc', 'writer', ['agentproc']],
    ['agentproc@0.4', 'planner', ['agentproc']],
    ['openharness', 'coder', ['openharness']],
    ['qwen', 'helper', ['qwen', ...FORMATS, 'stream-json']],
    ['qwen', 'coder', ['qwen', ...FORMATS, 'stream-chunk-json']],
    ['qwen-code', 'writer', ['qwen-code', ...FORMATS, 'stream-json', '--include-partial-messages']],
    ['acp', 'planner', ['acp']],
  ])('stand-in of %s in front of %s breaks no rule', async ([name, agent, [protocol, ...own]], { expect }) => {
    // Those on a running gateway are quick; what they say is the same as alone.
    const where = name === 'zot' ? ['--config', config] : []
    const variables = name === 'zot' ? [] : [`TURNPIKE_URL=${gateway.url}`]
    const program = [process.execPath, TURNPIKE]
    const args = [...variables, ...program, 'as', protocol!, ...where, '--agent', agent, ...own]
    expect((await outcomeOf(name, { command: '/usr/bin/env', args, cwd: ROOT })).told).toEqual([])
  })

  test('HTTP endpoint breaks no rule', async ({ expect }) => {
    expect((await outcomeOf('openharness', { url: `${gateway.url}/v1/openharness` })).told).toEqual([])
  })
})

describe('our own endpoints for clients of models', { concurrent: true }, () => {
  const model = spawn(process.execPath, [join(ROOT, 'examples/agents/model.mjs'), '0'])
  let gateway: TestGateway
  beforeAll(async () => {
    const url = String((await once(model.stdout, 'data'))[0]).trim()
    gateway = await startGateway(`agents:${EXAMPLE_AGENTS}  model: { protocol: openai, url: "${url}" }\n`)
  })
  afterAll(async () => {
    await gateway.close()
    model.kill()
  })

  test.for<[name: string, base: string, agent: string, warned: string[]]>([
    ['openai', '/v1', 'coder', ['openai-chat.2.length', 'openai-chat.2.schema']],
    ['openai', '/openai/v1', 'model', ['openai-chat.2.length', 'openai-chat.2.schema']],
    ['openai@responses', '/v1', 'coder', ['openai-responses.2.incomplete']],
    ['openai@responses', '/v1', 'model', ['openai-responses.2.incomplete']],
    ['anthropic', '', 'coder', ['anthropic.2.max-tokens']],
    ['anthropic', '/anthropic', 'model', ['anthropic.2.max-tokens']],
  ])('%s at %s in front of %s breaks no rule', async ([name, base, agent, warned], { expect }) => {
    const outcome = await outcomeOf(name, { url: `${gateway.url}${base}` }, 10_000, { [MODEL]: agent })
    // Agents have no limit of tokens and keep to no schema.
    expect({ broken: outcome.broken, warned: outcome.warned }).toEqual({ broken: [], warned })
  })
})

describe('an engine over HTTP', () => {
  const refused = { status: 'error', error: { code: 'invalid_request' } }
  let server: Server
  let flaw = ''

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      request.on('end', () => {
        const { protocol_version = '', request_id, correlation_id, request: asked } = parsed(body)
        const isGood =
          typeof asked?.context === 'object' && protocol_version.startsWith('1.') && request.method === 'POST'
        const code = protocol_version.startsWith('9') ? 'protocol_version_unsupported' : 'invalid_request'
        const inner = isGood ? { status: 'success' } : { ...refused, error: { code } }
        const isHidden = flaw === 'openharness.13.http-status' && request.method === 'POST'
        response.statusCode = isGood || isHidden ? 200 : 400
        if (flaw === 'openharness.5.1.method' && request.method !== 'POST') response.statusCode = 200
        const type = flaw === 'openharness.5.2.content-type' ? 'text/plain' : 'application/json'
        response.setHeader('content-type', type)
        response.end(
          JSON.stringify({
            protocol_version: '1.0.0',
            request_id,
            correlation_id,
            capability_denials: ['com.example.never', 'openharness.streaming'].map((capability) => ({ capability })),
            response: inner,
          }),
        )
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => server.close())

  test.each(['', 'openharness.13.http-status', 'openharness.5.2.content-type', 'openharness.5.1.method'])(
    'the flaw "%s" breaks that rule alone',
    async (rule) => {
      flaw = rule
      const { port } = server.address() as AddressInfo
      const { broken } = await outcomeOf('openharness', { url: `http://127.0.0.1:${port}/` })
      expect(broken).toEqual(rule === '' ? [] : [rule])
    },
  )
})

interface Asked {
  protocol_version?: string
  request_id?: string
  correlation_id?: string
  request?: { context?: unknown }
}

function parsed(body: string): Asked {
  try {
    return JSON.parse(body) as Asked
  } catch {
    return {}
  }
}
