import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import type { CallEnd } from '../../../src/contract/index.ts'
import { parseObject } from '../../../src/model/index.ts'
import { driveBack, driveFront, plainTurn } from '../../kit/drive.ts'
import { RECORDINGS } from '../../kit/recordings.ts'

interface Recorded {
  dir: string
  line?: string
  code?: number | null
  signal?: string | null
  no_lf?: boolean
  truncated?: boolean
  truncated_from_chars?: number
}

interface Entry {
  file: string
  args?: string[]
  broken_on_purpose?: boolean
  text_mode?: boolean
  http_status?: string | number
  http_body?: string
}

function index(folder: string): Entry[] {
  const entries = JSON.parse(readFileSync(join(RECORDINGS, folder, 'index.json'), 'utf8')) as Entry[]
  return entries.filter(({ file }) => file.endsWith('.jsonl'))
}

function records(folder: string, file: string): Recorded[] {
  return readFileSync(join(RECORDINGS, folder, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded)
}

/** The lines of one direction; records without a line end run into the next. */
function linesOf(all: readonly Recorded[], dir: string): string[] {
  let text = ''
  for (const { dir: from, line = '', no_lf, truncated, truncated_from_chars } of all) {
    if (from !== dir || truncated || truncated_from_chars !== undefined || line.startsWith('⟨')) continue
    text += no_lf ? line : `${line}\n`
  }
  return text.split('\n').filter((line) => line.trim() !== '')
}

function endOf(all: readonly Recorded[]): CallEnd {
  const exit = all.find(({ dir }) => dir === 'exit')
  const stderr = linesOf(all, 'err').join('\n')
  return {
    why: 'closed',
    ...(typeof exit?.code === 'number' && { exitCode: exit.code }),
    ...(exit?.signal && { signal: exit.signal }),
    stderr,
  }
}

function isStream({ args = [] }: Entry): boolean {
  return args.includes('--single-request=false') || args[args.indexOf('--single-request') + 1] === 'false'
}

/** Feeds what a real zene wrote to the agent side, once for every run that its client asked for. */
function readZene(entry: Entry) {
  const all = records('zene', entry.file)
  const mode = isStream(entry) ? 'stream' : 'oneshot'
  const runs = linesOf(all, 'in').flatMap((line) => {
    const request = parseObject(line)
    return request && (request['type'] ?? 'run') === 'run' ? [request] : []
  })
  return runs.map((request) => {
    const drive = driveBack(codec, { options: { mode }, recorded: 'both' })
    drive.link.open?.()
    const id = String(request['request_id'] ?? 'none')
    drive.start(String(request['prompt']), { request: id, session: { id: String(request['session_id']) } })
    drive.feed(...linesOf(all, 'out'))
    drive.link.decodeEnd(endOf(all))
    const [end, ...more] = drive.events.filter((event) => event.type === 'turn-end')
    return { id, drive, end, more }
  })
}

describe('recorded: what zene wrote', () => {
  const entries = index('zene').filter(({ args, text_mode }) => args?.[0] === 'host' && !text_mode)

  test.each(entries)('$file ends every run once and is understood', (entry) => {
    for (const { drive, end, more } of readZene(entry)) {
      expect(end).toBeDefined()
      expect(more).toEqual([])
      expect(drive.losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
    }
  })

  const endings: [file: string, ends: unknown[]][] = [
    ['oneshot-flat-ok', [{ outcome: 'completed' }]],
    ['oneshot-protocol-ok', [{ outcome: 'completed' }]],
    ['oneshot-plan-not-json', [{ outcome: 'failed', fault: { code: 'internal', retry: 'fresh-session' } }]],
    ['session-process-2', [{ outcome: 'failed', fault: { retry: 'fresh-session' } }]],
    ['provider-401-exec', [{ outcome: 'failed', fault: { code: 'provider-auth' } }]],
    ['provider-429-exec', [{ outcome: 'failed', fault: { code: 'provider-rate-limit' } }]],
    ['provider-500-exec', [{ outcome: 'failed', fault: { code: 'provider-down' } }]],
    ['provider-garbage-sse', [{ outcome: 'failed', fault: { code: 'provider-down' } }]],
    [
      'provider-unsupported',
      [
        {
          outcome: 'failed',
          fault: { code: 'invalid-request', message: 'Configuration error: Unsupported provider: nope' },
        },
      ],
    ],
    ['provider-hang-plan-timeout', [{ outcome: 'failed', fault: { code: 'timeout', retryable: true } }]],
    ['request-timeout-zero', [{ outcome: 'failed', fault: { code: 'timeout' } }]],
    ['request-no-prompt', [{ outcome: 'failed', fault: { code: 'invalid-request' } }]],
    [
      'request-no-type',
      [
        {
          outcome: 'failed',
          fault: {
            code: 'invalid-request',
            message: 'invalid JSON payload: missing field `type` at line 1 column 244',
          },
        },
      ],
    ],
    ['request-blank-prompt-protocol-shape', [{ outcome: 'failed', fault: { code: 'invalid-request' } }]],
    ['oneshot-published-command', [{ outcome: 'failed', fault: { code: 'agent-unavailable' } }]],
    ['cli-protocol-v2', [{ outcome: 'failed', fault: { code: 'agent-crashed' } }]],
    ['input-no-newline-open', [{ outcome: 'failed', fault: { code: 'internal' } }]],
    ['oneshot-sigterm-tool', [{ outcome: 'failed', fault: { code: 'agent-crashed' } }]],
    ['stream-run', [{ outcome: 'completed' }]],
    ['stream-run-flat', [{ outcome: 'completed' }, { outcome: 'completed' }]],
    ['stream-run-then-eof-at-once', [{ outcome: 'failed', fault: { code: 'agent-crashed' } }]],
    ['stream-eof-in-flight-timeout', [{ outcome: 'failed', fault: { code: 'agent-crashed' } }]],
    ['stream-stdin-idle-timeout', [{ outcome: 'failed', fault: { code: 'agent-crashed' } }]],
    ['stream-cancel-running', [{ outcome: 'cancelled' }]],
    ['stream-two-runs-same-session', [{ outcome: 'completed' }, { outcome: 'completed' }]],
    [
      'stream-duplicate-back-to-back',
      [{ outcome: 'completed' }, { outcome: 'failed', fault: { code: 'session-busy' } }],
    ],
    [
      'stream-busy-flat',
      [
        { outcome: 'failed', fault: { code: 'timeout' } },
        { outcome: 'failed', fault: { code: 'overloaded' } },
      ],
    ],
  ]
  test.each(endings)('%s', (name, ends) => {
    const entry = entries.find(({ file }) => file === `${name}.jsonl`)!
    expect(readZene(entry).map(({ end }) => end)).toMatchObject(ends)
  })
})

describe('recorded: what the clients of zene wrote', () => {
  test.each(index('zene').filter(({ args }) => args?.[0] === 'host'))('$file: every line is answered', (entry) => {
    const frames = linesOf(records('zene', entry.file), 'in')
    const drive = driveFront(codec, { argv: entry.args! })
    drive.feed(...frames)
    for (const command of [...drive.commands]) {
      if (command.type === 'turn-start') drive.play(plainTurn('answer'), command.exchange)
      else if (drive.answers.has(command.exchange)) {
        drive.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: command.exchange })
      }
    }
    drive.link.decodeEnd?.('eof')
    const answers = drive.sent.filter((frame) => !/"type":"event"|"status":"ACCEPTED"/.test(String(frame)))
    expect(answers).toHaveLength(isStream(entry) ? Math.max(1, frames.length) : 1)
    expect(drive.exitCode).toBeDefined()
  })

  const refusals: [file: string, exit: number, message: string][] = [
    ['input-not-json', 2, 'invalid JSON payload: the request is not valid JSON'],
    ['input-json-array', 2, 'invalid JSON payload: the request is not a JSON object'],
    [
      'request-wrong-version',
      2,
      'unsupported protocol_version (expected 1): the request has 2; send 1 or leave it out',
    ],
    ['request-unknown-type', 2, 'unsupported request type'],
    ['request-no-prompt', 0, 'run request requires non-empty prompt'],
    ['request-no-session-id', 0, 'run request requires non-empty session_id'],
    ['request-no-request-id', 0, 'run request requires non-empty request_id'],
    ['request-blank-request-id', 0, 'run request requires non-empty request_id'],
    ['request-timeout-negative', 0, 'timeout_ms must be a number of milliseconds, zero or more'],
    ['cli-single-request-yes', 2, '--single-request takes true or false'],
    ['cli-protocol-v2', 2, 'unsupported --protocol: only v1 is spoken'],
  ]
  test.each(refusals)('%s exits %i', (name, exit, message) => {
    const entry = index('zene').find(({ file }) => file === `${name}.jsonl`)!
    const drive = driveFront(codec, { argv: entry.args! })
    drive.feed(...linesOf(records('zene', entry.file), 'in'))
    expect(drive.sent).toHaveLength(1)
    expect(drive.sent[0]).toContain(JSON.stringify(message))
    expect([drive.exitCode, drive.warned]).toEqual([exit, exit === 0 ? [] : [message]])
  })

  const taken: [file: string, runs: number][] = [
    ['input-blank-line-first', 1],
    ['input-two-requests', 1],
    ['oneshot-published-command', 1],
    ['request-minimal-mvp', 1],
    ['request-no-type', 1],
    ['request-no-protocol-version', 1],
    ['request-no-idempotency-key', 1],
    ['request-nulls', 1],
    ['stream-two-runs-same-session', 2],
    ['stream-unknown-type-among-good', 1],
  ]
  test.each(taken)('%s starts %i', (name, runs) => {
    const entry = index('zene').find(({ file }) => file === `${name}.jsonl`)!
    const drive = driveFront(codec, { argv: entry.args! })
    drive.feed(...linesOf(records('zene', entry.file), 'in'))
    expect(drive.commands.filter(({ type }) => type === 'turn-start')).toHaveLength(runs)
  })
})

describe('recorded: clawbridge', () => {
  const entries = index('clawbridge').filter(({ file }) => !file.startsWith('e2e-'))

  test.each(entries)('$file: its requests become turns', ({ file }) => {
    for (const line of linesOf(records('clawbridge', file), 'in')) {
      const request = parseObject(line)
      if (!request) continue
      const drive = driveFront(codec)
      drive.feed(line)
      expect(drive.commands).toMatchObject([
        {
          type: 'turn-start',
          request: request['request_id'],
          agent: request['agent'],
          input: [{ type: 'text', text: request['prompt'] }],
          options: { totalMs: request['timeout_ms'] },
          once: { key: request['idempotency_key'], duplicate: 'join', replay: 'undelivered' },
          session: { id: request['session_id'], channel: request['channel_id'] },
        },
      ])
      expect(drive.commands[0]).not.toHaveProperty('ext')
    }
  })

  /** Where we read more than clawbridge takes: usage may be unknown, and an agent may say both shapes or only the protocol's. */
  const WIDER =
    /^(ok-no-usage|ok-usage-|ok-total-|exit1-good-stdout|stderr-flood-exit1|protocol-final|ack-then-final|bom|invalid-utf8|slow-|answer-|grandchild-|retry-|retries-|text-lone-surrogate|json-array|client-gone|exit2)/

  test.each(entries.filter(({ file }) => !WIDER.test(file)))(
    '$file: the same verdict on the first answer',
    ({ file, http_status, http_body }) => {
      const all = records('clawbridge', file)
      const last = all.findIndex(({ dir }) => dir === 'exit')
      const drive = driveBack(codec, { recorded: 'agent' })
      drive.start('hello')
      drive.feed(...linesOf(all.slice(0, last < 0 ? all.length : last), 'out'))
      drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
      const ends = drive.events.filter((event) => event.type === 'turn-end')
      expect(ends, http_body).toMatchObject([
        {
          outcome:
            String(http_status) === '200' ? 'completed' : /CANCELED/.test(http_body ?? '') ? 'cancelled' : 'failed',
        },
      ])
    },
  )
})

describe('recorded: clawrun', () => {
  test('its requests become turns', () => {
    const requests = JSON.parse(readFileSync(join(RECORDINGS, 'clawrun/requests.json'), 'utf8')) as {
      headers: Record<string, string>
      body: string
    }[]
    for (const { headers, body } of requests) {
      const drive = driveFront(codec, { dialect: 'clawrun', transport: 'http', headers })
      drive.feed(body)
      expect(drive.commands).toMatchObject([
        { type: 'turn-start', agent: 'bridge-agent', options: { totalMs: 28_000 } },
      ])
      expect(drive.losses).toEqual([])
    }
  })
})
