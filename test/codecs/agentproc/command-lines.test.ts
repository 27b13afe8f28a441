/** Recordings of the runners' own command line: what it was asked, and what it showed of the agent's answer. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/agentproc/index.ts'
import type { AgentEvent } from '../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'
import { RECORDINGS } from '../../kit/recordings.ts'

interface Recorded {
  file: string
  asked: Asked
  stdout: string
  /** Lines that the agent printed and the command line showed as they were. */
  events: string[]
  /** Lines of the agent's own stderr. */
  logged: string[]
  session: string
  exit: string
}

interface Asked {
  message: string
  session: string
  name: string
  from: string
  image: string
  streaming: boolean
}

/** The recordings in which an agent was started; what was wrong with the others is between a runner and its user. */
function recorded(folder: string): Recorded[] {
  const path = join(RECORDINGS, folder)
  const files = readdirSync(path).filter((file) => file.startsWith('cli-'))
  return files
    .map((file) => read(file, readFileSync(join(path, file), 'utf8')))
    .filter(({ exit, events, stdout }) => exit === '0' || events.length > 0 || stdout !== '')
}

function read(file: string, text: string): Recorded {
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { dir: string; line: string })
  const of = (dir: string): string => rows.find((row) => row.dir === dir)?.line ?? ''
  const shown = of('cli_stderr').split('\n')
  return {
    file,
    asked: askedBy(JSON.parse(of('argv')) as string[], of('cli_stdin')),
    stdout: of('cli_stdout'),
    events: shown.filter((line) => /^(AGENT_|\{)/.test(line)),
    logged: shown.flatMap((line) => (line.startsWith('[agent stderr] ') ? line.slice(15) : [])),
    session: shown.find((line) => line.startsWith('agentproc:session:'))?.slice(18) ?? '',
    exit: of('exit'),
  }
}

function askedBy([, ...args]: string[], stdin: string): Asked {
  const value = (name: string): string => (args.includes(`--${name}`) ? args[args.indexOf(`--${name}`) + 1]! : '')
  return {
    message: args.includes('--stdin') ? stdin.trimEnd() : value('prompt'),
    session: value('session'),
    name: value('session-name'),
    from: value('from'),
    image: value('image-url'),
    streaming: !args.includes('--no-stream'),
  }
}

/** A back that was asked the same. */
function asking(dialect: string, { message, session, name, from, image, streaming }: Asked): BackDrive {
  const process = { command: 'agent', args: [], env: {}, cwd: '/work' }
  const back = driveBack(codec, { dialect, options: { streaming }, process })
  back.start(message, {
    input: [
      ...(message === '' ? [] : [{ type: 'text' as const, text: message }]),
      ...(image === '' ? [] : [{ type: 'image' as const, url: image }]),
    ],
    session: { ...(session && { bound: session }), ...(name && { name }) },
    ...(from && { ext: { protocol: 'agentproc', json: JSON.stringify({ AGENT_FROM_USER: from }) } }),
  })
  return back
}

function found(events: readonly AgentEvent[]) {
  const end = events.at(-1)
  if (end?.type !== 'turn-end') throw new Error('no end')
  return {
    texts: events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])),
    session: events.flatMap((event) => (event.type === 'session-bound' ? [event.agentSession] : [])).join(),
    outcome: end.outcome,
    code: end.fault?.code,
    message: end.fault?.message,
  }
}

const of01 = recorded('agentproc-0.1')
const of04 = recorded('agentproc-0.4')

describe('recorded command lines of 0.1', () => {
  const answered = of01.filter(({ file, session }) => session !== '' || file.startsWith('cli-raw'))

  test('all of them', () => {
    expect([of01.length, answered.length]).toEqual([12, 6])
  })

  test.each(answered)('$file: its answer is read the same', ({ asked, events, stdout, session, exit }) => {
    const back = asking('0.1', asked)
    back.feed(...events, ...stdout.trimEnd().split('\n'))
    back.link.decodeEnd({ why: 'closed', exitCode: Number(exit) })
    const partials = events.length > 0 ? ['p'] : []
    // Without its events shown, what told the session is not in the recording.
    expect(found(back.events)).toMatchObject({ texts: [...partials, 'body'], outcome: 'completed' })
    if (events.length > 0) expect(found(back.events).session).toBe(session)
  })

  test.each(of01.filter(({ file }) => file.startsWith('cli-stdin')))(
    '$file: the same is asked',
    ({ file, asked, stdout }) => {
      const [call] = asking('0.1', asked).calls
      if (call?.kind !== 'process') throw new Error('no process')
      const { AGENT_MESSAGE, AGENT_SESSION_ID, AGENT_SESSION_NAME, AGENT_FROM_USER, AGENT_IMAGE_URL } = call.env!
      // This runner's command line for Node lost what it read from stdin.
      const message = file.includes('.node') ? '' : AGENT_MESSAGE
      expect(`[${message}]\nname=${AGENT_SESSION_NAME} from=${AGENT_FROM_USER} img=${AGENT_IMAGE_URL}\n`).toBe(stdout)
      expect([AGENT_MESSAGE, AGENT_SESSION_ID]).toEqual(['two\nlines', 's0'])
    },
  )

  test.each(of01.filter(({ file }) => file.startsWith('cli-empty-prompt')))(
    '$file: nothing is not asked',
    ({ asked }) => {
      const back = asking('0.1', asked)
      expect([back.calls, found(back.events).code]).toEqual([[], 'invalid-request'])
    },
  )

  test.each(of01.filter(({ file }) => file.startsWith('cli-timeout')))('$file: what came in time stands', (one) => {
    const back = asking('0.1', one.asked)
    back.feed(...one.stdout.trimEnd().split('\n'))
    back.link.decodeEnd({ why: 'timeout' })
    expect(found(back.events)).toMatchObject({ texts: ['early'], outcome: 'failed', code: 'timeout' })
  })
})

describe('recorded command lines of 0.4', () => {
  test('all of them', () => {
    expect(of04).toHaveLength(10)
  })

  test.each(of04.filter(({ events }) => events.length > 0))('$file: its answer is read the same', (one) => {
    const back = asking('0.4', one.asked)
    back.feed(...one.events)
    back.link.decodeEnd({ why: 'closed', exitCode: Number(one.exit) })
    const { texts, session, outcome, message } = found(back.events)
    if (one.file.startsWith('cli-error')) {
      expect([texts, outcome, message]).toEqual([[], 'failed', 'bad'])
      return
    }
    // Without streaming it shows none of the answer's events, and the one that is left is none of this wire.
    expect([texts, outcome]).toEqual(one.asked.streaming ? [['p'], 'completed'] : [[], 'failed'])
    // Its `session` event is of an older wire: the command line shows it, and nothing takes an id from it any more.
    expect(session).toBe('')
    expect(back.losses).toMatchObject([{ kind: 'unparsed', item: 'foreign', why: 'unknown' }])
  })

  test.each(of04.filter(({ file }) => file.startsWith('cli-stdin-04')))(
    '$file: the same is asked',
    ({ file, asked, logged }) => {
      const turn = JSON.parse(logged[0]!) as Record<string, unknown>
      const message = file.includes('.node') ? 'two\nlines' : turn['message']
      expect(JSON.parse(String(asking('0.4', asked).sent[0]))).toEqual({ ...turn, message })
    },
  )
})
