/** A client of each protocol, over HTTP and on stdio: one plain turn in, what the client would show out. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { loadCodec } from '../../codecs/index.ts'
import type { ErrorCode } from '../../src/model/index.ts'
import { TURNPIKE } from './gateway.ts'

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
  /** Absent: it is on stdio alone. */
  path?: string
  /** Arguments after `turnpike as`; absent: it starts no program. */
  argv?: readonly string[]
  headers?: (asked: ClientRequest) => Record<string, string>
  env?: (asked: ClientRequest) => Record<string, string>
  write(asked: ClientRequest): string
  /** What it writes when it has read a line, while its input is open; absent: it says all at once. */
  answer?(line: string, asked: ClientRequest): string | undefined
  read(raw: string, asked: ClientRequest): Pick<Shown, 'ok' | 'text' | 'session'>
  /** Its answers are whole: failures have the protocol's code and the HTTP status of it. */
  whole?: true
  /** It repeats requests by itself: after the start of its agent a failure has a status that it does not do so for. */
  repeats?: true
  /** The code by which an answer tells that its turn failed; `error` where the wire has no codes. */
  failure(raw: string): string | undefined
  /** A cancelled turn is no failure on its wire. */
  cancels?: 'silently'
  /** True when a request is refused in the protocol's own words, and nothing else is said. */
  refuses(raw: string): boolean
  /** True for a line that ends an answer. */
  isEnd(line: string, last: boolean): boolean
  /** The exit code of a stand-in that SIGTERM has ended; 143 when absent. */
  terminated?: number
  /** The tokens of the turn, in and out, where the wire has a place for them. */
  tokens?(raw: string): unknown
}

const jsonLines = (raw: string): Record<string, unknown>[] =>
  raw
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** A line of any protocol. */
interface Line {
  type?: string
  outcome?: string
  fault?: { code: string; message: string }
  usage?: Record<string, number>
}

const lastLine = (raw: string): string => raw.trim().split('\n').at(-1)!
const typeOf = (line: string): string | undefined => (JSON.parse(line) as Line).type
const isSentinelError = (line: string): boolean => line.startsWith('AGENT_ERROR:')
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
/** What is no turn object is answered in the older wire, which every runner of either reads as an error. */
const typedErrors = {
  failure: (raw: string) => (isSentinelError(lastLine(raw)) || typeOf(lastLine(raw)) === 'error' ? 'error' : undefined),
  refuses: (raw: string) => /^(AGENT_ERROR:"[^\n]+"|\{"type":"error"[^\n]+\})\n$/.test(raw),
}

interface Directive {
  action_type: string
  payload?: { text?: string }
}

interface Envelope {
  protocol_version: string
  response: {
    status: string
    error?: { code: string }
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
    whole: true,
    failure: (raw) => {
      const { fault, outcome } = JSON.parse(lastLine(raw)) as Line
      return fault?.code ?? (outcome === 'cancelled' ? outcome : undefined)
    },
    refuses: (raw) => {
      const { type, fault } = JSON.parse(raw) as Line
      return type === 'fault' && fault?.code !== '' && fault?.message !== ''
    },
    isEnd: (line) => 'outcome' in (JSON.parse(line) as Line) || 'fault' in (JSON.parse(line) as Line),
    tokens: (raw) => {
      const { usage } = JSON.parse(raw) as Line
      return [usage?.['input'], usage?.['output']]
    },
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
    whole: true,
    failure: (raw) => (JSON.parse(raw) as Envelope).response.error?.code,
    refuses: (raw) => {
      const { protocol_version, response } = JSON.parse(raw) as Envelope
      return protocol_version === '1.0.0' && response.status === 'error' && response.error !== undefined
    },
    isEnd: (line) => 'response' in (JSON.parse(line) as object),
    // It has answered with an error.
    terminated: 1,
  },
  zene: {
    path: '/v1/zene',
    argv: ['zene', 'host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
    write: zeneRequest,
    read: (raw) => {
      const answer = JSON.parse(raw) as { ok: boolean; text: string; session_id: string }
      return { ok: answer.ok, text: answer.text, session: answer.session_id }
    },
    whole: true,
    failure: (raw) => (JSON.parse(raw) as { error_code: string | null }).error_code ?? undefined,
    refuses: (raw) => {
      const { ok, text, error_code } = JSON.parse(raw) as { ok: boolean; text: string; error_code: string }
      return !ok && text === '' && error_code === 'INVALID_REQUEST'
    },
    isEnd: (line) => 'ok' in (JSON.parse(line) as object),
    // It has answered a request that it could parse.
    terminated: 0,
    tokens: (raw) => {
      const { usage } = JSON.parse(raw) as Line
      return [usage?.['prompt_tokens'], usage?.['completion_tokens']]
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
    failure: (raw) => {
      const last = jsonLines(raw).slice(-2)
      const failed = last.map(({ type }) => type).join() === 'error,done' || last.at(-1)?.['success'] === false
      return failed ? 'error' : undefined
    },
    cancels: 'silently',
    refuses: (raw) => {
      const [first, ...rest] = jsonLines(raw)
      return first!['success'] === false ? rest.length === 0 : rest.map(({ type }) => type).join() === 'error,done'
    },
    isEnd: (line) => typeOf(line) === 'done',
    // One report for each call of the model.
    tokens: (raw) => {
      const reports = jsonLines(raw).filter(({ type }) => type === 'usage') as { input: number; output: number }[]
      return [sum(reports.map(({ input }) => input)), sum(reports.map(({ output }) => output))]
    },
  },
  agentproc: {
    path: '/v1/agentproc',
    argv: ['agentproc'],
    env: variables,
    write: (asked) => JSON.stringify(variables(asked)),
    read: readSentinels,
    failure: (raw) => (isSentinelError(lastLine(raw)) ? 'error' : undefined),
    refuses: (raw) => /^AGENT_ERROR:"[^\n]+"\n$/.test(raw),
    // The end of a success is the end of the wire.
    isEnd: (line, last) => last || isSentinelError(line),
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
    ...typedErrors,
    isEnd: (line, last) => last || ['text', 'error'].includes(typeOf(line)!),
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
    ...typedErrors,
    isEnd: (line) => ['result', 'error'].includes(typeOf(line)!),
    tokens: (raw) => {
      const { usage } = JSON.parse(lastLine(raw)) as Line
      return [usage?.['input_tokens'], usage?.['output_tokens']]
    },
  },
  openai: {
    path: '/v1/chat/completions',
    headers: (asked) => ({ ...(asked.session && { 'turnpike-session': asked.session }) }),
    write: ({ text }) => JSON.stringify({ messages: [{ role: 'user', content: text }] }),
    read: (raw, { session }) => {
      const { choices = [] } = JSON.parse(raw) as { choices?: { message: { content: string } }[] }
      return { ok: choices.length > 0, text: choices[0]?.message.content ?? '', session }
    },
    whole: true,
    repeats: true,
    failure: (raw) => (JSON.parse(raw) as { error?: { code: string } }).error?.code,
    refuses: (raw) => {
      const { error } = JSON.parse(raw) as { error: { message: string; code: string } }
      return error.message !== '' && error.code !== ''
    },
    isEnd: (line) => 'choices' in (JSON.parse(line) as object) || 'error' in (JSON.parse(line) as object),
    tokens: (raw) => {
      const { usage } = JSON.parse(raw) as Line
      return [usage?.['prompt_tokens'], usage?.['completion_tokens']]
    },
  },
  'openai@responses': {
    path: '/v1/responses',
    headers: (asked) => ({ ...(asked.session && { 'turnpike-session': asked.session }) }),
    write: ({ text }) => JSON.stringify({ input: text }),
    read: (raw, { session }) => {
      type Item = { type: string; content?: { text?: string; refusal?: string }[] }
      const { output, status } = JSON.parse(raw) as { output?: Item[]; status?: string }
      const said = (output ?? []).filter(({ type }) => type === 'message').flatMap(({ content }) => content ?? [])
      const text = said.map((part) => part.text ?? part.refusal ?? '').join('\n\n')
      return { ok: status === 'completed' || status === 'incomplete', text, session }
    },
    whole: true,
    repeats: true,
    failure: (raw) => (JSON.parse(raw) as { error?: { code: string } }).error?.code,
    refuses: (raw) => {
      const { error } = JSON.parse(raw) as { error: { message: string; code: string } }
      return error.message !== '' && error.code !== ''
    },
    isEnd: (line) => 'output' in (JSON.parse(line) as object) || 'error' in (JSON.parse(line) as object),
    tokens: (raw) => {
      const { usage } = JSON.parse(raw) as Line
      return [usage?.['input_tokens'], usage?.['output_tokens']]
    },
  },
  anthropic: {
    path: '/v1/messages',
    headers: (asked) => ({
      'anthropic-version': '2023-06-01',
      ...(asked.session && { 'turnpike-session': asked.session }),
    }),
    write: ({ text }) => JSON.stringify({ max_tokens: 1000, messages: [{ role: 'user', content: text }] }),
    read: (raw, { session }) => {
      const { content } = JSON.parse(raw) as { content?: { text?: string }[] }
      return { ok: content !== undefined, text: (content ?? []).map(({ text }) => text ?? '').join(''), session }
    },
    whole: true,
    repeats: true,
    failure: (raw) => (JSON.parse(raw) as { error?: { type: string } }).error?.type,
    refuses: (raw) => {
      const { type, error } = JSON.parse(raw) as { type: string; error: { message: string; type: string } }
      return type === 'error' && error.message !== '' && error.type !== ''
    },
    isEnd: (line) => 'content' in (JSON.parse(line) as object) || 'error' in (JSON.parse(line) as object),
    tokens: (raw) => {
      const { usage } = JSON.parse(raw) as Line
      return [usage?.['input_tokens'], usage?.['output_tokens']]
    },
  },
} satisfies Record<string, ClientKind>

interface RpcLine {
  id?: number
  params?: { update?: { sessionUpdate: string; content?: { text?: string } } }
  result?: { sessionId?: string; stopReason?: string; usage?: { inputTokens: number; outputTokens: number } }
  error?: { data?: { code: string } }
}

const rpcLines = (raw: string): RpcLine[] => jsonLines(raw) as RpcLine[]
const rpc = (id: number, method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const isFailure = ({ error }: RpcLine): boolean => error !== undefined

/** Clients on stdio that speak with their agent: each of their messages waits for the answer to the one before. */
const SPEAKERS = {
  acp: {
    argv: ['acp'],
    write: () => rpc(1, 'initialize', { protocolVersion: 1 }),
    answer: (line, { text, session }) => {
      const { id, result } = JSON.parse(line) as RpcLine
      if (id === 1 && result) {
        const work = { cwd: '/', mcpServers: [] }
        return session === '' ? rpc(2, 'session/new', work) : rpc(2, 'session/resume', { sessionId: session, ...work })
      }
      if (id !== 2 || !result) return undefined
      return rpc(3, 'session/prompt', { sessionId: result.sessionId ?? session, prompt: [{ type: 'text', text }] })
    },
    read: (raw, { session }) => {
      const lines = rpcLines(raw)
      const chunks = lines.filter(({ params }) => params?.update?.sessionUpdate === 'agent_message_chunk')
      return {
        ok: lines.at(-1)?.result?.stopReason === 'end_turn',
        text: chunks.map(({ params }) => params!.update!.content!.text).join(''),
        session: lines.find(({ id }) => id === 2)?.result?.sessionId ?? session,
      }
    },
    failure: (raw) => (isFailure(rpcLines(raw).at(-1)!) ? 'error' : undefined),
    cancels: 'silently',
    refuses: (raw) => rpcLines(raw).every(isFailure),
    isEnd: (line) => {
      const message = JSON.parse(line) as RpcLine
      return isFailure(message) || message.id === 3
    },
    tokens: (raw) => {
      const { result } = rpcLines(raw).at(-1)!
      return [result?.usage?.inputTokens, result?.usage?.outputTokens]
    },
  },
} satisfies Record<string, ClientKind>

/** A protocol that there is a client of, over HTTP and most of them on stdio. */
export type ClientName = keyof typeof CLIENTS
/** A protocol that there is a client of on stdio. */
export type StdioClientName = ClientName | keyof typeof SPEAKERS
/** A client by its name. */
export function clientOf(name: StdioClientName): ClientKind {
  return name in SPEAKERS ? SPEAKERS[name as keyof typeof SPEAKERS] : CLIENTS[name as ClientName]
}

/** All clients over HTTP, for tables. */
export const clientNames = Object.keys(CLIENTS) as ClientName[]
/** The clients that start a program. */
export const stdioClientNames: readonly StdioClientName[] = [
  ...clientNames.filter((name) => clientOf(name).argv !== undefined),
  ...(Object.keys(SPEAKERS) as (keyof typeof SPEAKERS)[]),
]

/** The code by which a client tells a failed turn. */
export async function failureOf(name: StdioClientName, code: ErrorCode): Promise<string> {
  if (!clientOf(name).whole) return 'error'
  return (await loadCodec(name.split('@')[0]!))!.errors[code].code
}

/** What a client sends over HTTP for one turn, below the address of the gateway. */
export function httpRequest(name: ClientName, asked: ClientRequest): HttpRequest {
  const client = clientOf(name)
  const agent = asked.agent ? `/${asked.agent}` : ''
  const query = name === 'zot' && asked.session ? `?session=${asked.session}` : ''
  return {
    path: `${client.path}${agent}${query}`,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...client.headers?.(asked) },
    body: client.write(asked),
  }
}

interface HttpRequest {
  path: string
  method: 'POST'
  headers: Record<string, string>
  body: string
}

/** One turn over HTTP. */
export async function askHttp(url: string, name: ClientName, asked: ClientRequest): Promise<Shown> {
  const client = clientOf(name)
  const { path, ...init } = httpRequest(name, asked)
  const response = await fetch(`${url}${path}`, init)
  const raw = await response.text()
  return { ...client.read(raw, asked), raw, status: response.status }
}

/** A stand-in that has ended. */
export interface Ran {
  stdout: string
  stderr: string
  code: number | null
}

/** Writes what a client says next to everything that it reads, and ends its input when it has its answer. */
export function speak(child: ChildProcessWithoutNullStreams, client: ClientKind, asked: ClientRequest): void {
  let rest = ''
  child.stdout.on('data', (text: string | Buffer) => {
    const lines = (rest + String(text)).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const next = client.answer!(line, asked)
      if (next !== undefined) child.stdin.write(next)
      else if (client.isEnd(line, false)) child.stdin.end()
    }
  })
}

/** Runs the command line from its sources with this standard input, which ends behind it unless `speaker` goes on. */
export function runTurnpike(
  args: readonly string[],
  input: string,
  env: Record<string, string> = {},
  speaker?: (child: ChildProcessWithoutNullStreams) => void,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [TURNPIKE, ...args], {
      env: { ...process.env, ...env },
    })
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
    if (speaker) {
      speaker(child)
      child.stdin.write(input)
    } else child.stdin.end(input)
  })
}

/** One turn on stdio, of the gateway that `config` (a file) describes. */
export async function askStdio(config: string, name: StdioClientName, asked: ClientRequest): Promise<Shown & Ran> {
  const client = clientOf(name)
  const [protocol, ...own] = client.argv!
  const agent = asked.agent ? ['--agent', asked.agent] : []
  const session = name === 'zot' && asked.session ? ['--session', asked.session] : []
  const args = ['as', protocol!, '--config', config, ...agent, ...own, ...session]
  const input = client.env ? '' : client.write(asked)
  const speaker = client.answer && ((child: ChildProcessWithoutNullStreams) => speak(child, client, asked))
  const ran = await runTurnpike(args, input, client.env?.(asked), speaker)
  return { ...client.read(ran.stdout, asked), raw: ran.stdout, status: ran.code ?? -1, ...ran }
}
