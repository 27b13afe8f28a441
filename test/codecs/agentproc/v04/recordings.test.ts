// biome-ignore-all lint/suspicious/noTemplateCurlyInString: profiles hold such text
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import { frameDecoder } from '../../../../src/framing/index.ts'
import type { Part } from '../../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront } from '../../../kit/drive.ts'
import { RECORDINGS } from '../../../kit/recordings.ts'

/** Recordings of the runners and bridges of wire 0.4. */
const FOLDER = join(RECORDINGS, 'agentproc-0.4')

interface Row {
  dir: string
  line: string
  truncated?: boolean
  hex?: string
}

interface Wanted {
  message?: string
  session_id?: string
  session_name?: string
  attachments?: { kind: string; url: string; filename?: string; mime_type?: string; size?: number }[]
}

class Recording {
  readonly rows: Row[]

  constructor(file: string) {
    const text = readFileSync(join(FOLDER, file), 'utf8').trimEnd()
    this.rows = text.split('\n').map((line) => JSON.parse(line) as Row)
  }

  lines(dir: string): string[] {
    return this.rows.filter((row) => row.dir === dir && !row.truncated).map(({ line }) => line)
  }

  get profile(): Record<string, unknown> {
    return JSON.parse(this.lines('profile')[0] ?? '{"command":"agent"}') as Record<string, unknown>
  }

  /** The turn that the caller asked for, or that a bridge was given. */
  get wanted(): Wanted {
    return JSON.parse(this.lines('options')[0] ?? this.lines('in')[0] ?? '{}') as Wanted
  }

  get result(): Record<string, unknown> {
    return JSON.parse(this.lines('result')[0] ?? '{}') as Record<string, unknown>
  }

  /** The bytes of stdout as text; `hex` are pieces of one line. */
  get stdout(): string {
    const out = this.rows.filter(({ dir, truncated }) => dir === 'out' && !truncated)
    const bytes = out.map(({ line, hex }, index) => {
      if (hex !== undefined && out[index + 1]?.hex !== undefined) return Buffer.from(hex, 'hex')
      return Buffer.concat([hex === undefined ? Buffer.from(line) : Buffer.from(hex, 'hex'), Buffer.from('\n')])
    })
    return Buffer.concat(bytes).toString()
  }

  get end(): CallEnd {
    const { timedOut, timed_out } = this.result
    if (timedOut || timed_out) return { why: 'timeout' }
    if (this.lines('note').includes('host sets cancel_event')) return { why: 'cancelled' }
    const [exit] = this.lines('exit')
    if (exit === undefined) return { why: 'closed' }
    return exit === 'self SIGKILL' ? { why: 'closed', signal: 'SIGKILL' } : { why: 'closed', exitCode: Number(exit) }
  }
}

function partOf({ kind, url, filename, mime_type, size }: NonNullable<Wanted['attachments']>[number]): Part {
  return {
    type: kind === 'image' || kind === 'audio' ? kind : 'file',
    url,
    ...(filename && { name: filename }),
    ...(mime_type && { mime: mime_type }),
    ...(size && { bytes: size }),
  }
}

/** Runs the recorded turn through the back; permission requests get the recorded answers. */
function replay(recording: Recording): BackDrive {
  const { command, args, env, cwd, ...options } = recording.profile
  const { message = '', session_id, session_name, attachments = [] } = recording.wanted
  const back = driveBack(codec, {
    dialect: '0.4',
    folder: '/workspace/profile',
    env: { MY_API_KEY: 'key-from-host', OTHER_KEY: 'other-from-host' },
    options: { ...options, expand: true },
    process: {
      command: command as string,
      ...(Array.isArray(args) && { args: args as string[] }),
      env: (env ?? {}) as Record<string, string>,
      cwd: (cwd ?? '/workspace/work') as string,
    },
  })
  back.start(message, {
    input: [...(message ? [{ type: 'text' as const, text: message }] : []), ...attachments.map(partOf)],
    session: { ...(session_id && { bound: session_id }), ...(session_name && { name: session_name }) },
  })
  const decoder = frameDecoder('ndjson', 1 << 20, {
    frame: (frame) => back.feed(frame),
    fault: (fault) => back.faults.push(fault),
  })
  const inPieces = recording.rows.some(({ hex }) => hex !== undefined)
  const answers = recording.lines('in').map((line) => JSON.parse(line) as Record<string, string>)
  for (const row of recording.rows) {
    if (row.dir === 'out' && !row.truncated && !inPieces)
      decoder.push(`${row.line}
`)
    const answer = row.dir === 'in' ? answers.shift() : undefined
    if (answer?.['type'] !== 'permission_response') continue
    back.link.encode({
      exchange: 'x1',
      type: 'ask-reply',
      target: 'running',
      reply: {
        kind: 'approval',
        option: answer['behavior']!,
        ...(answer['message'] && { message: answer['message'] }),
      },
    })
  }
  if (inPieces) decoder.push(recording.stdout)
  decoder.end()
  back.link.decodeEnd(recording.end)
  return back
}

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'))
const nameOf = (file: string) => file.split('.')[0]!
/** Recordings of a turn; the others are of the runners' command line. */
const turns = files.filter((file) => !file.startsWith('cli-'))
const runners = turns.filter((file) => !file.startsWith('bridge-'))

/** What a turn comes to where ours is not what the recorded runners give, or they differ. */
const ENDINGS: Record<string, string> = {
  // The result is the answer; the exit comes after it.
  'exit2-body': 'completed',
  'exit2-silent': 'failed: The agent failed (exit code 2); its stderr is in the gateway log.',
  'killed-by-signal': 'failed: The agent failed (signal SIGKILL); its stderr is in the gateway log.',
  'timeout-after-error': 'failed: The agent did not answer within its time limit. Before that it reported: upstream',
  'timeout-term-ignored': 'failed: The agent did not answer within its time limit.',
  'permission-no-handler': 'failed: The agent did not answer within its time limit.',
  'sigint-runner': 'failed: The agent failed (exit code 130); its stderr is in the gateway log.',
  'error-exit0': 'failed: upstream 429',
  'error-exit3': 'failed: bad',
  'error-twice': 'failed: first',
  'empty-turn': 'failed: The turn has neither a message nor an attachment; send one of them.',
  'cancel-event.python-0.20': 'cancelled: The turn was cancelled.',
  // This runner has no limits, and closes stdin at once.
  'timeout-after-error.rust': 'failed: upstream',
  'timeout-term-ignored.rust': 'completed',
  'permission-no-handler.rust': 'completed',
  'sigint-runner.rust': 'completed',
}

describe('recorded runners and bridges', () => {
  test('all of them', () => {
    expect([files.length > turns.length, runners.length > 150, turns.length > runners.length]).toEqual([
      true,
      true,
      true,
    ])
  })

  test.each(turns)('%s', (file) => {
    const recording = new Recording(file)
    const back = replay(recording)
    const ends = back.events.filter(({ type }) => type === 'turn-end')
    expect(ends).toHaveLength(1)
    expect(back.events.at(-1)).toBe(ends[0])
    expect(back.faults).toEqual([])
    const broken = ['json-whitespace', 'permission-malformed', 'bridge-sdk-perm-off'].includes(nameOf(file))
    if (!broken) expect(back.losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
  })

  test.each(runners)('%s ends as recorded', (file) => {
    const recording = new Recording(file)
    const { result } = recording
    const exit = recording.lines('exit')[0]
    // What was never started, was cut in the recording, or hung, says nothing.
    if (recording.rows.some(({ truncated }) => truncated) || exit === undefined || 'hung' in result) return
    const end = replay(recording).events.at(-1)
    if (end?.type !== 'turn-end') throw new Error('no end')
    const wanted = ENDINGS[file.replace('.jsonl', '')] ?? ENDINGS[nameOf(file)]
    expect(end.fault ? `${end.outcome}: ${end.fault.message}` : end.outcome).toBe(wanted ?? 'completed')
  })

  test.each(runners)('%s starts the same turn', (file) => {
    const recording = new Recording(file)
    const [line] = recording.lines('in')
    if (line === undefined || nameOf(file) === 'empty-turn' || recording.lines('options').length === 0) return
    const back = replay(recording)
    const { from_user: _, attachments, ...recorded } = JSON.parse(line) as Record<string, unknown>
    const wanted = Array.isArray(attachments) && attachments.length > 0 ? { ...recorded, attachments } : recorded
    expect(JSON.parse(String(back.sent[0]))).toEqual(wanted)
    expect(String(back.sent[0])).toMatch(/^[\x20-\x7e]+$/)
  })

  test.each(turns.filter((file) => new Recording(file).lines('in').length > 0))('%s as its agent', (file) => {
    const [turn, ...more] = new Recording(file).lines('in')
    const front = driveFront(codec, { dialect: '0.4' })
    front.feed(turn!, ...more)
    const { message } = JSON.parse(turn!) as { message: string }
    const readable = message !== '' || turn!.includes('"url"')
    expect(front.commands).toHaveLength(readable ? 1 : 0)
    expect(front.faults).toHaveLength(readable ? 0 : 1)
  })
})
