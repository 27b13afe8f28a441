/** A client of each protocol, over HTTP and on stdio: one plain turn in, what the client would show out. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './gateway.ts'

/** A client's reading of an answer. `raw` is its whole input. */
export interface Shown {
  ok: boolean
  text: string
  /** The id that the next turn of the session is sent with. */
  session: string
  raw: string
  /** HTTP status, or exit code on stdio. */
  status: number
}

/** One turn's request. `session` is empty for a new one. */
export interface ClientRequest {
  text: string
  session: string
  agent?: string
  id?: string
}

interface ClientKind {
  path: string
  /** Arguments after `turnpike as`. */
  argv: readonly string[]
  headers?: Record<string, string>
  env?: (asked: ClientRequest) => Record<string, string>
  write(asked: ClientRequest): string
  read(raw: string, asked: ClientRequest): Pick<Shown, 'ok' | 'text' | 'session'>
}

const jsonLines = (raw: string): Record<string, unknown>[] =>
  raw
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

interface Directive {
  action_type: string
  payload?: { text?: string }
}

interface Envelope {
  response: {
    status: string
    action_directives?: Directive[]
    extensions?: Record<string, { session?: string }>
  }
}

function readEnvelope(raw: string, { session }: ClientRequest): Pick<Shown, 'ok' | 'text' | 'session'> {
  const { response } = JSON.parse(raw) as Envelope
  const texts = (response.action_directives ?? []).filter(({ action_type }) => action_type === 'render_message')
  return {
    ok: response.status === 'success',
    text: texts.map(({ payload }) => payload?.text ?? '').join(''),
    session: response.extensions?.['urn:turnpike:turn']?.session ?? session,
  }
}

function readSentinels(raw: string, { session }: ClientRequest): Pick<Shown, 'ok' | 'text' | 'session'> {
  let text = ''
  let ok = true
  let bound = session
  const body: string[] = []
  for (const line of raw.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('AGENT_SESSION:')) bound = line.slice('AGENT_SESSION:'.length)
    else if (line.startsWith('AGENT_PARTIAL:')) text += JSON.parse(line.slice('AGENT_PARTIAL:'.length)) as string
    else if (line.startsWith('AGENT_ERROR:')) ok = false
    else body.push(line)
  }
  return { ok, text: text + body.join('\n'), session: bound }
}

const variables = ({ text, session }: ClientRequest): Record<string, string> => ({
  AGENT_MESSAGE: text,
  AGENT_SESSION_ID: session,
  AGENT_SESSION_NAME: 'default',
  AGENT_FROM_USER: '',
  AGENT_STREAMING: '1',
  AGENT_PROTOCOL_VERSION: '0.1',
})

const zeneRequest = ({ text, session, id = 'r1' }: ClientRequest): string =>
  `${JSON.stringify({ request_id: id, session_id: session || 'new-session', prompt: text })}\n`

/** The lines of a turn, or the one object of a whole answer. */
function readNative(raw: string): Pick<Shown, 'ok' | 'text' | 'session'> {
  const lines = jsonLines(raw)
  const [whole] = lines
  if (lines.length === 1 && whole!['outcome'] !== undefined) {
    return { ok: whole!['outcome'] === 'completed', text: String(whole!['text']), session: String(whole!['session']) }
  }
  const texts = new Map<unknown, string>()
  for (const { type, message, role, text, parts } of lines) {
    if (type === 'message-start' && role === 'assistant') texts.set(message, '')
    else if (type === 'text-delta') texts.set(message, (texts.get(message) ?? '') + String(text))
    else if (type === 'message-end' && parts !== undefined && texts.has(message)) {
      texts.set(message, (parts as { text?: string }[]).map((part) => part.text ?? '').join(''))
    }
  }
  const accepted = lines.find(({ type }) => type === 'turn-accepted')
  return {
    ok: lines.at(-1)?.['outcome'] === 'completed',
    text: [...texts.values()].join(''),
    session: String(accepted?.['session'] ?? ''),
  }
}

/** The clients by name. */
export const CLIENTS = {
  native: {
    path: '/v1/turns',
    argv: ['native'],
    write: ({ text, session, id = 'r1' }) =>
      `${JSON.stringify({ type: 'turn-start', request: id, input: text, ...(session && { session: { id: session } }) })}\n`,
    read: readNative,
  },
  openharness: {
    path: '/v1/openharness',
    argv: ['openharness'],
    write: ({ text, session, id = 'r1' }) =>
      JSON.stringify({
        protocol_version: '1.0.0',
        request_id: id,
        request: { context: { ...(session && { session_id: session }), user_intent: text } },
      }),
    read: readEnvelope,
  },
  zene: {
    path: '/v1/zene',
    argv: ['zene', 'host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
    write: zeneRequest,
    read: (raw) => {
      const answer = JSON.parse(raw) as { ok: boolean; text: string; session_id: string }
      return { ok: answer.ok, text: answer.text, session: answer.session_id }
    },
  },
  zot: {
    path: '/v1/zot',
    argv: ['zot', 'rpc'],
    write: ({ text, id = '1' }) => `${JSON.stringify({ id, type: 'prompt', message: text })}\n`,
    read: (raw, { session }) => {
      const frames = jsonLines(raw)
      const deltas = frames.filter(({ type }) => type === 'text_delta').map(({ delta }) => String(delta))
      const failed = frames.some(({ type, success }) => type === 'error' || (type === 'response' && !success))
      return { ok: !failed && frames.at(-1)?.['type'] === 'done', text: deltas.join(''), session }
    },
  },
  agentproc: {
    path: '/v1/agentproc',
    argv: ['agentproc'],
    env: variables,
    write: (asked) => JSON.stringify(variables(asked)),
    read: readSentinels,
  },
  'agentproc@0.3': {
    path: '/v1/agentproc',
    argv: ['agentproc'],
    write: ({ text, session }) =>
      `${JSON.stringify({ type: 'turn', message: text, session_id: session, session_name: 'default', from_user: '', protocol_version: '0.3' })}\n`,
    read: (raw, { session }) => {
      const events = jsonLines(raw)
      const last = events.at(-1)
      const bound = events.findLast(({ type }) => type === 'session')?.['id']
      // An empty answer is the end of the wire without a text.
      const text = last?.['type'] === 'text' ? String(last['text']) : ''
      return { ok: last?.['type'] !== 'error', text, session: String(bound ?? session) }
    },
  },
  'agentproc@0.4': {
    path: '/v1/agentproc',
    argv: ['agentproc'],
    write: ({ text, session }) =>
      `${JSON.stringify({ type: 'turn', message: text, session_id: session, session_name: 'default', protocol_version: '0.4' })}\n`,
    read: (raw, { session }) => {
      const events = jsonLines(raw)
      const last = events.at(-1)
      const bound = events.findLast(({ session_id }) => typeof session_id === 'string')?.['session_id']
      return { ok: last?.['type'] === 'result', text: String(last?.['text']), session: String(bound ?? session) }
    },
  },
} satisfies Record<string, ClientKind>

/** A protocol that there is a client of. */
export type ClientName = keyof typeof CLIENTS
/** All clients, for tables. */
export const clientNames = Object.keys(CLIENTS) as ClientName[]

/** One turn over HTTP. */
export async function askHttp(url: string, name: ClientName, asked: ClientRequest): Promise<Shown> {
  const client: ClientKind = CLIENTS[name]
  const agent = asked.agent ? `/${asked.agent}` : ''
  const query = name === 'zot' && asked.session ? `?session=${asked.session}` : ''
  const response = await fetch(`${url}${client.path}${agent}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: client.write(asked),
  })
  const raw = await response.text()
  return { ...client.read(raw, asked), raw, status: response.status }
}

/** A stand-in that has ended. */
export interface Ran {
  stdout: string
  stderr: string
  code: number | null
}

/** Runs the command line from its sources with this standard input. */
export function runTurnpike(args: readonly string[], input: string, env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(ROOT, 'src/cli/main.ts'), ...args],
      {
        env: { ...process.env, ...env },
      },
    )
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('close', (code) => resolve({ stdout, stderr, code }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** One turn on stdio, of the gateway that `config` (a file) describes. */
export async function askStdio(config: string, name: ClientName, asked: ClientRequest): Promise<Shown & Ran> {
  const client: ClientKind = CLIENTS[name]
  const [protocol, ...own] = client.argv
  const agent = asked.agent ? ['--agent', asked.agent] : []
  const session = name === 'zot' && asked.session ? ['--session', asked.session] : []
  const args = ['as', protocol!, '--config', config, ...agent, ...own, ...session]
  const ran = await runTurnpike(args, client.env ? '' : client.write(asked), client.env?.(asked))
  return { ...client.read(ran.stdout, asked), raw: ran.stdout, status: ran.code ?? -1, ...ran }
}
