import { dropped, invented, type Report, weakened, wellFormed, withInstruction } from '../../../src/codec-kit/index.ts'
import {
  append,
  type Command,
  type Id,
  object,
  oneLine,
  quote,
  type SessionRef,
  type TurnStart,
  textOf,
} from '../../../src/model/index.ts'
import { ownExt, PROTOCOL } from '../wire.ts'

/** The arguments that real zene takes: its parser refuses the published line, whose `--single-request` has no value. */
const ONESHOT_ARGS = ['host', '--protocol', 'v1', '--bridge-compat']
const STREAM_ARGS = ['host', '--protocol', 'v1', '--single-request', 'false']

/** Between two turns of a persistent process no line comes for long; the program's own limit would end it after 15 s. */
const STREAM_ENV = { NO_COLOR: '1', ZENE_STDIN_TIMEOUT_MS: '86400000' }

/** The process to start. Configured arguments are kept, except a bare `--single-request`, which is the default. */
export function launch(stream: boolean, configured: readonly string[] | undefined) {
  const bare = (arg: string, next: string | undefined): boolean =>
    arg === '--single-request' && (next === undefined || next.startsWith('-'))
  const args = configured?.filter((arg, at) => !bare(arg, configured[at + 1])) ?? (stream ? STREAM_ARGS : ONESHOT_ARGS)
  return {
    kind: 'process',
    args,
    env: stream ? STREAM_ENV : { NO_COLOR: '1' },
    stdin: stream ? 'open' : 'end',
  } as const
}

/** The session id to name: the agent's own, else the one that the gateway gives it, which is of the conversation too. */
export function sessionOf(turn: Id, session: SessionRef | undefined, report: Report): string {
  if (session?.bound !== undefined) return session.bound
  if (session?.conversation !== undefined) report(weakened('session.conversation', 'session_id'))
  const named = session?.id ?? session?.conversation
  if (named !== undefined) return named
  report(invented('session.id', 'session_id'))
  return turn
}

/** The id under which the agent knows a turn. */
export function requestOf(start: TurnStart): string {
  return start.request ?? start.turn
}

/** The `run` line of a turn. `timeout_ms` is never 0: real zene ends such a run before it begins. */
export function runLine(start: Command & TurnStart, session: string, report: Report): string {
  const { options, ext } = start
  if (ext && ext.protocol !== PROTOCOL) report(dropped('ext'))
  const line = object({
    protocol_version: '1',
    type: '"run"',
    request_id: quote(requestOf(start)),
    session_id: quote(session),
    channel_id: quote(start.session?.channel),
    agent: quote(start.agent),
    prompt: quote(promptOf(start, report)),
    timeout_ms: options.totalMs === undefined ? undefined : String(milliseconds(options.totalMs)),
    idempotency_key: quote(`turnpike-${start.turn}`),
    stream: options.streaming === undefined ? undefined : String(options.streaming),
  })
  return append(line, ownExt(ext))
}

function milliseconds(total: number): number {
  return Math.min(Math.max(1, Math.floor(total)), Number.MAX_SAFE_INTEGER)
}

function promptOf(start: TurnStart, report: Report): string {
  const prompt = wellFormed(textOf(start.input), report, 'prompt')
  const { systemPrompt } = start.options
  if (systemPrompt === undefined) return prompt
  report(weakened('option.systemPrompt', 'prompt'))
  return withInstruction(wellFormed(systemPrompt, report, 'prompt'), prompt)
}

/** A line that is no `run`, with the members that only its type has. */
export function controlLine(
  type: 'cancel' | 'session_close' | 'ping',
  request: Id,
  members: { session_id?: string; target_request_id?: string } = {},
): string {
  return oneLine(JSON.stringify({ protocol_version: 1, type, request_id: request, ...members }))
}
