import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'
import { Running } from './recorded.ts'

/**
 * A gateway that is killed in the middle: every client of a stand-in is given one honest end in its own protocol, and
 * none that had its answer is given another one. All stand-ins of all protocols lose the one gateway at once.
 */

const GONE = 'The gateway went away before it had answered; send the request again.'
const OWN = `turnpike: ${GONE}\n`
const IDLE = 'turnpike: The gateway went away while nothing waited for its answer; start this program again to go on.\n'

type Line = Record<string, unknown>

/** A client in the middle of a turn: how it starts its agent, what it writes, what it reads at the end. */
interface Lost {
  args: readonly string[]
  env?: Record<string, string>
  input: string
  /** What it has read when the gateway goes; nothing where it is told all at the end. */
  shows: string
  /** Its input ends with that, as of a client that has one request. */
  eof?: true
  code: number
  stderr: string
  /** The end, of what was written behind the last word of the agent. */
  end: (lines: readonly string[]) => unknown
  expected: unknown
}

const objects = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line)
const pick = (line: Line | undefined, ...names: string[]): Line =>
  Object.fromEntries(names.filter((name) => line && name in line).map((name) => [name, line![name]]))

const FLAT = {
  ok: false,
  request_id: 'r1',
  session_id: 's1',
  text: '',
  error_code: 'PROVIDER_DOWN',
  error_message: GONE,
  usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
}

const LOST: Readonly<Record<string, Lost>> = {
  'zene, one request': {
    shows: '',
    args: ['zene', 'host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
    input: '{"request_id":"r1","session_id":"s1","prompt":"flat"}\n',
    code: 0,
    stderr: '',
    end: objects,
    expected: [FLAT],
  },
  'zene, many requests': {
    shows: 'One moment.',
    args: ['zene', 'host', '--protocol', 'v1', '--single-request', 'false'],
    input:
      '{"request_id":"r1","session_id":"s4","prompt":"one"}\n{"request_id":"r2","session_id":"s2","prompt":"two"}\n',
    code: 1,
    stderr: OWN,
    end: (lines) =>
      objects(lines)
        .filter(({ type }) => type !== 'event' && type !== 'ack')
        .map((line) => pick(line, 'type', 'request_id', 'status', 'text', 'error')),
    expected: ['r1', 'r2'].map((request_id) => ({
      type: 'final',
      request_id,
      status: 'ERROR',
      text: '',
      error: { code: 'PROVIDER_DOWN', message: GONE, retryable: true },
    })),
  },
  zot: {
    shows: 'One moment.',
    args: ['zot', 'rpc'],
    input: '{"id":"1","type":"prompt","message":"first"}\n{"id":"2","type":"prompt","message":"second"}\n',
    code: 1,
    stderr: OWN,
    end: (lines) =>
      objects(lines)
        .filter(({ type }) => ['response', 'error', 'done', 'turn_end'].includes(String(type)))
        .map((line) => pick(line, 'type', 'id', 'success', 'message', 'stop')),
    expected: [
      { type: 'response', id: '1', success: true },
      { type: 'turn_end', stop: 'error' },
      { type: 'error', message: GONE },
      { type: 'done' },
      { type: 'response', id: '2', success: true },
      { type: 'error', message: GONE },
      { type: 'done' },
    ],
  },
  'agentproc 0.1': {
    shows: 'One moment.',
    args: ['agentproc'],
    env: { AGENT_MESSAGE: 'by environment', AGENT_SESSION_ID: '', AGENT_STREAMING: '1', AGENT_PROTOCOL_VERSION: '0.1' },
    input: '',
    eof: true,
    code: 1,
    stderr: '',
    end: (lines) => lines.filter((line) => !line.startsWith('AGENT_SESSION:')),
    expected: ['AGENT_PARTIAL:"One moment."', `AGENT_ERROR:${JSON.stringify(GONE)}`],
  },
  'agentproc 0.4': {
    shows: 'One moment.',
    args: ['agentproc'],
    input: '{"type":"turn","message":"a turn","session_id":"","session_name":"default","protocol_version":"0.4"}\n',
    code: 1,
    stderr: '',
    end: (lines) => objects(lines).map((line) => pick(line, 'type', 'text', 'message')),
    expected: [
      { type: 'partial', text: 'One moment.' },
      { type: 'error', message: GONE },
    ],
  },
  openharness: {
    shows: '',
    args: ['openharness'],
    input:
      '{"protocol_version":"1.0.0","request_id":"q1","request":{"context":{"session_id":"s5","user_intent":"do"}}}',
    eof: true,
    code: 1,
    stderr: '',
    end: (lines) =>
      objects(lines).map(({ request_id, response }) => [request_id, pick(response as Line, 'status', 'error')]),
    expected: [['q1', { status: 'error', error: { code: 'engine_unavailable', message: GONE, retryable: true } }]],
  },
  qwen: {
    shows: 'One moment.',
    args: ['qwen', '--input-format', 'stream-json', '--output-format', 'stream-chunk-json'],
    input:
      '{"session_id":"lake","prompt_id":"lake########1","input":{"origin":"user","parts":[{"type":"text","text":"rfc"}],"command":null}}\n',
    code: 1,
    stderr: '',
    end: (lines) =>
      objects(lines)
        .filter((line) => 'error' in line)
        .map(({ error }) => pick(error as Line, 'message', 'type')),
    expected: [{ message: GONE, type: 'service_unavailable_error' }],
  },
  'qwen-code': {
    shows: '',
    args: ['qwen-code', '--input-format', 'stream-json', '--output-format', 'stream-json'],
    input: '{"type":"user","session_id":"","message":{"role":"user","content":"shipped"},"parent_tool_use_id":null}\n',
    code: 1,
    stderr: OWN,
    end: (lines) =>
      objects(lines)
        .filter(({ type }) => type === 'result')
        .map((line) => [pick(line, 'subtype', 'is_error'), pick(line['error'] as Line, 'message')]),
    expected: [[{ subtype: 'error_during_execution', is_error: true }, { message: GONE }]],
  },
  native: {
    shows: 'One moment.',
    args: ['native'],
    input: '{"type":"turn-start","input":"plain"}\n{"type":"query","exchange":"e2","what":"agents"}\n',
    code: 1,
    stderr: OWN,
    // Nothing was named: what is ended is called what the gateway called it.
    end: (lines) => {
      const all = objects(lines)
      const accepted = all.find(({ type }) => type === 'turn-accepted')
      return all
        .filter(({ type }) => type === 'turn-end' || type === 'command-reply')
        .map((line) => [line['type'], line['turn'] === accepted?.['turn'], line['outcome'] ?? line['exchange']])
    },
    expected: [
      ['command-reply', false, 'e2'],
      ['turn-end', true, 'failed'],
    ],
  },
}

/** Clients that have their answer when the gateway goes. */
const ANSWERED: Readonly<Record<string, { args: readonly string[]; input: string; ends: string }>> = {
  'zene, many requests': {
    args: ['zene', 'host', '--protocol', 'v1', '--single-request', 'false'],
    input: '{"request_id":"r1","session_id":"s3","prompt":"quick"}\n',
    ends: '"type":"final"',
  },
  zot: { args: ['zot', 'rpc'], input: '{"id":"1","type":"prompt","message":"quick"}\n', ends: '"type":"done"' },
  'qwen-code': {
    args: ['qwen-code', '--input-format', 'stream-json', '--output-format', 'stream-json'],
    input: '{"type":"user","session_id":"","message":{"role":"user","content":"quick"},"parent_tool_use_id":null}\n',
    ends: '"type":"result"',
  },
  qwen: {
    args: ['qwen', '--input-format', 'stream-json', '--output-format', 'stream-chunk-json'],
    input:
      '{"session_id":"sea","prompt_id":"sea########1","input":{"origin":"user","parts":[{"type":"text","text":"quick"}],"command":null}}\n',
    ends: '"finish_reason":"stop"',
  },
  native: { args: ['native'], input: '{"type":"turn-start","input":"quick"}\n', ends: '"type":"turn-end"' },
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

describe('a gateway that is killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-lost-'))
  const config = join(folder, 'turnpike.yaml')
  const diary = join(folder, 'diary')
  const lost: Record<string, Running> = {}
  const answered: Record<string, { standIn: Running; before: string }> = {}

  let follower: Running

  /** How many turns the agent has begun. */
  const begun = (): number => (existsSync(diary) ? lines(readFileSync(diary, 'utf8')).length : 0)

  async function untilBegun(count: number): Promise<void> {
    const watcher = watch(folder)
    while (begun() < count) await once(watcher, 'change')
    watcher.close()
  }

  beforeAll(async () => {
    const slow = join(folder, 'slow.sh')
    writeFileSync(slow, `#!/bin/sh\nprintf 'AGENT_PARTIAL:"One moment."\\n'\necho begun >>"$DIARY"\nexec sleep 600\n`)
    const quick = join(folder, 'quick.sh')
    writeFileSync(quick, `#!/bin/sh\necho Done.\n`)
    for (const file of [slow, quick]) chmodSync(file, 0o755)
    writeFileSync(
      config,
      `server: { port: 0 }
default: slow
agents:
  slow: { protocol: agentproc, command: ${slow}, args: [], env: { DIARY: ${diary} }, pool: { max: 16 } }
  quick: { protocol: agentproc, command: ${quick}, args: [] }
store: { kind: sqlite, path: ./turnpike.db }
`,
    )
    const serve = [join(ROOT, 'dist/turnpike.cjs'), 'serve', '--config', config]
    const gateway: ChildProcess = spawn(process.execPath, serve, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(gateway.stdout!, 'data')
    for (const [name, { args, env = {}, input, eof }] of Object.entries(LOST)) {
      const standIn = new Running([args[0]!, '--config', config, ...args.slice(1)], env)
      lost[name] = standIn
      standIn.writeText(input)
      if (eof) standIn.end()
    }
    for (const [name, { args, input, ends }] of Object.entries(ANSWERED)) {
      const standIn = new Running([args[0]!, '--config', config, '--agent', 'quick', ...args.slice(1)], {})
      standIn.writeText(input)
      await standIn.until(() => standIn.stdout.includes(ends))
      answered[name] = { standIn, before: standIn.stdout }
    }
    // Zene's second request runs beside the first, zot's waits for it.
    await untilBegun(Object.keys(LOST).length + 1)
    for (const [name, { shows }] of Object.entries(LOST)) {
      const standIn = lost[name]!
      await standIn.until(() => standIn.stdout.includes(shows))
    }
    const followed = objects(lines(lost['native']!.stdout)).find(({ type }) => type === 'turn-accepted')!
    follower = new Running(['native', '--config', config], {})
    follower.writeText(`{"type":"turn-follow","exchange":"f1","target":{"turn":"${followed['turn']}"}}\n`)
    await follower.until(() => follower.stdout.includes('One moment.'))
    const ended = once(gateway, 'exit')
    gateway.kill('SIGKILL')
    await ended
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(Object.entries(LOST))('%s: gives its client one end', async (name, { code, stderr, end, expected }) => {
    const standIn = lost[name]!
    expect(await standIn.ended()).toBe(code)
    expect(standIn.stderr).toBe(stderr)
    expect(end(lines(standIn.stdout))).toEqual(expected)
  })

  test('native: tells who follows the turn of another client that nothing more will come', async () => {
    expect(await follower.ended()).toBe(1)
    expect(follower.stderr).toBe(OWN)
    const told = objects(lines(follower.stdout))
    expect(told.filter(({ type }) => type === 'turn-end' || type === 'fault')).toEqual([
      { type: 'fault', exchange: 'f1', fault: { code: 'agent-unavailable', message: GONE, retryable: true } },
    ])
  })

  test.each(Object.keys(ANSWERED))('%s: gives a client that had its answer none', async (name) => {
    const { standIn, before } = answered[name]!
    expect(await standIn.ended()).toBe(1)
    expect(standIn.stdout).toBe(before)
    expect(standIn.stderr).toBe(IDLE)
  })
})
