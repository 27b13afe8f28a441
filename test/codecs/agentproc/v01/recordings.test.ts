// biome-ignore-all lint/suspicious/noTemplateCurlyInString: profiles hold such text
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import { frameDecoder } from '../../../../src/framing/index.ts'
import type { AgentEvent } from '../../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront } from '../../../kit/drive.ts'
import { RECORDINGS } from '../../../kit/recordings.ts'

/** Recordings of the runners of wire 0.1. */
const FOLDER = join(RECORDINGS, 'agentproc-0.1')

interface Row {
  dir: string
  line: string
  truncated?: boolean
}

interface Profile extends Record<string, unknown> {
  command: string
  args?: string[]
  env?: Record<string, unknown>
  cwd?: string
}

interface Result {
  reply: string
  error: string
  session: string
  partials: string[]
}

class Recording {
  readonly rows: Row[]

  constructor(file: string) {
    const text = readFileSync(join(FOLDER, file), 'utf8').trimEnd()
    this.rows = text.split('\n').map((line) => JSON.parse(line) as Row)
  }

  lines(dir: string): string[] {
    return this.rows.filter((row) => row.dir === dir && !row.truncated).map((row) => row.line)
  }

  /** The profile with its nesting taken off, as a loader gives it. */
  get profile(): Profile | undefined {
    const [text] = this.lines('profile')
    const whole = text === undefined ? undefined : (parseYaml(text) as Profile & { agentproc?: Profile })
    return whole?.agentproc ?? whole
  }

  get options(): Record<string, string> {
    return JSON.parse(this.lines('options')[0] ?? '{}') as Record<string, string>
  }

  /** The child's environment. */
  get env(): Record<string, string> {
    return Object.fromEntries(
      this.lines('env').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
  }

  get end(): CallEnd {
    const { timedOut, timed_out } = this.raw
    if (timedOut || timed_out) return { why: 'timeout' }
    const [exit] = this.lines('exit')
    if (exit === undefined) return { why: 'closed' }
    return exit === 'self SIGKILL' ? { why: 'closed', signal: 'SIGKILL' } : { why: 'closed', exitCode: Number(exit) }
  }

  get raw(): Record<string, unknown> {
    return JSON.parse(this.lines('result')[0] ?? '{}') as Record<string, unknown>
  }

  get result(): Result {
    const raw = this.raw
    const said = this.lines('cb').map((line) => JSON.parse(line) as { callback: string; args: string })
    return {
      reply: raw['reply'] as string,
      error: raw['error'] as string,
      session: (raw['sessionId'] ?? raw['session_id'] ?? '') as string,
      partials: said.filter(({ callback }) => /^on_?partial$/i.test(callback)).map(({ args }) => args),
    }
  }
}

/** Runs the recorded turn through the back: the caller's options in, the agent's stdout out. */
function replay(recording: Recording): BackDrive {
  const { command, args, env = {}, cwd = '/workspace/work', ...options } = recording.profile!
  const { message = '', session_id, session_name, from_user, image_url, file_url } = recording.options
  const back = driveBack(codec, {
    folder: '/workspace/profile',
    env: { MY_API_KEY: 'key-from-host', USER: 'user', HOST_SECRET: 's3cret-host' },
    options: { ...options, expand: true },
    process: {
      command,
      ...(Array.isArray(args) && { args }),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
      cwd,
    },
  })
  back.start(message, {
    input: [
      ...(message === '' ? [] : [{ type: 'text' as const, text: message }]),
      ...(image_url ? [{ type: 'image' as const, url: image_url }] : []),
      ...(file_url ? [{ type: 'file' as const, url: file_url }] : []),
    ],
    session: { ...(session_id && { bound: session_id }), ...(session_name && { name: session_name }) },
    ...(from_user && { ext: { protocol: 'agentproc', json: JSON.stringify({ AGENT_FROM_USER: from_user }) } }),
  })
  const decoder = frameDecoder('text', 1 << 20, {
    frame: (frame) => back.feed(frame),
    fault: (fault) => back.faults.push(fault),
  })
  for (const line of recording.lines('out')) decoder.push(`${line}\n`)
  decoder.end()
  back.link.decodeEnd(recording.end)
  return back
}

/** The text of the messages that stand, in order. */
function texts(events: readonly AgentEvent[]): string[] {
  const said = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'text-delta') said.set(event.message, (said.get(event.message) ?? '') + event.text)
    if (event.type === 'message-retract') said.delete(event.message)
  }
  return [...said.values()]
}

/** Where ours differs from the recorded runner on purpose, or where partials and body both came. */
const ENDINGS: Record<string, { texts: string[]; error?: string; session?: string }> = {
  ansi: { texts: ['\u001b[31mred\u001b[0m\n\u001b[2K\u001b[1Gprogress', '\u001b[1mbold'] },
  crlf: { texts: ['p', 'body one\nbody two\r'], session: 's-crlf' },
  'error-exit0': { texts: ['before'], error: 'rate limited', session: 's-2' },
  'max-reply-custom': { texts: ['123456789😀 [cut]'] },
  'max-reply-partials': { texts: ['aaaabbbbcc', '0123456789'] },
  'no-partial-callback': { texts: ['p', 'body'], session: 's' },
  'partials-and-body': { texts: ['p1', 'body 1', 'p2', 'body 2'] },
  'profile-ignored-fields': { texts: ['AGENT_SESSION:real'], session: 'abc', error: 'exit code 4' },
  'sigint-runner.node': { texts: ['started'], error: 'exit code unknown' },
  'sigint-runner.python': { texts: ['started\ngot INT'], error: 'exit code 130' },
  'timeout-after-error': { texts: [], error: 'upstream' },
  'timeout-term-flush': { texts: ['workingflushed', 'late body'], session: 'after-term', error: 'time limit' },
  unicode: { texts: ['grüße 世界 😀\na\u2028b\u0085c\fd\u000be', '世界 😀 \u2028'] },
  'invalid-utf8': { texts: ['before\nbad\ufffdbyte \ufffd\nafter'], session: 's-after' },
  'exit127-diagnosed': { texts: [], error: 'exit code 2' },
  'killed-by-signal': { texts: ['body'], error: 'signal SIGKILL' },
  'timeout-as-string.node': { texts: ['a\nb'] },
}

/** Values that ours has for a variable where the recorded runners have another, or differ from each other. */
const OURS: Record<string, string> = {
  'env-expansion E_KEY': 'key-from-host',
  'env-expansion E_BOOL': 'true',
  'env-expansion E_NULL': 'null',
  'placeholder-injection P_MSG': 'a {{SESSION_ID}} b ${HOST_SECRET} c $& d $$ e $` f',
  'session-name-empty AGENT_SESSION_NAME': 'default',
}

/** Turns that a runner refuses, and what ours says. */
const REFUSED: Record<string, string> = {
  'command-empty': 'agent-unavailable',
  'empty-message': 'invalid-request',
  'nul-in-message': 'invalid-request',
}

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'))
/** Recordings of a turn; the others are of the runners' command line. */
const turns = files.filter((file) => !file.startsWith('cli-'))
const nameOf = (file: string) => file.split('.')[0]!

describe('recorded runners', () => {
  test('all of them', () => {
    expect([files.length, turns.length]).toEqual([130, 114])
  })

  test.each(turns)('%s', (file) => {
    const recording = new Recording(file)
    const back = replay(recording)
    const name = nameOf(file)
    const ends = back.events.filter((event) => event.type === 'turn-end')
    expect(ends).toHaveLength(1)
    expect(back.events.at(-1)).toBe(ends[0])
    expect(back.faults).toEqual([])
    expect(back.losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
    const [end] = ends
    if (REFUSED[name]) {
      expect(back.calls).toEqual([])
      expect(end).toMatchObject({ outcome: 'failed', fault: { code: REFUSED[name] } })
      return
    }
    // What was never started, or was cut in the recording, says nothing more.
    if (recording.rows.some((row) => row.truncated) || recording.lines('argv').length === 0) return
    expectEnding(back, recording, ENDINGS[name] ?? ENDINGS[file.replace('.jsonl', '')])
  })

  const started = turns.filter((file) => {
    const recording = new Recording(file)
    return recording.lines('argv').length > 0 && recording.options['message'] && recording.lines('options').length > 0
  })

  test.each(started)('%s starts the same process', (file) => {
    const recording = new Recording(file)
    const name = nameOf(file)
    const [call] = replay(recording).calls
    if (call?.kind !== 'process') throw new Error('no process')
    expect(call.command).toBe('python3')
    const argv = JSON.parse(recording.lines('argv')[0]!) as string[]
    const message = recording.options['message']!
    // The recorded runners read a message for placeholders.
    expect(call.args).toEqual(name === 'placeholder-injection' ? [argv[0], message] : argv)
    const given = Object.entries(recording.env).filter(([variable]) => Object.hasOwn(call.env ?? {}, variable))
    expect(given.length).toBeGreaterThan(4)
    for (const [variable, value] of given) {
      expect(call.env?.[variable], variable).toBe(OURS[`${name} ${variable}`] ?? value)
    }
    expect(replay(recording).sent).toEqual(recording.profile?.['stdin'] === 'message' ? [message] : [])
  })

  test.each(turns.filter((file) => new Recording(file).env['AGENT_MESSAGE']))('%s as its agent', (file) => {
    const { env } = new Recording(file)
    const front = driveFront(codec, { env })
    expect(front.faults).toEqual([])
    expect(front.commands).toMatchObject([
      {
        input: [
          { type: 'text', text: env['AGENT_MESSAGE'] },
          ...(env['AGENT_IMAGE_URL'] && env['AGENT_ATTACHMENTS'] === undefined
            ? [{ type: 'image', url: env['AGENT_IMAGE_URL'] }]
            : []),
        ],
      },
    ])
    expect(front.answers.get('f1')?.form).toBe(env['AGENT_STREAMING'] === '1' ? 'stream' : 'whole')
  })
})

function expectEnding(back: BackDrive, recording: Recording, special: (typeof ENDINGS)[string] | undefined): void {
  const { result } = recording
  const bound = back.events.find((event) => event.type === 'session-bound')
  const end = back.events.at(-1)
  if (end?.type !== 'turn-end') throw new Error('no end')
  expect(bound?.agentSession ?? '').toBe(special?.session ?? result.session)
  const spoken = [result.partials.join(''), result.reply].filter((text) => text !== '')
  expect(texts(back.events)).toEqual(special?.texts ?? spoken)
  const error = special?.error ?? result.error
  const failed = error !== '' || recording.end.why === 'timeout' || recording.end.exitCode !== 0
  expect(end.outcome).toBe(failed ? 'failed' : 'completed')
  expect(end.fault?.message ?? '').toContain(error)
}
