import { type Fault, isRecord, type JsonText, parseObject } from '../../../src/model/index.ts'
import { extOf } from './wire.ts'

/** An agent's arguments with the formats that its configuration leaves open. */
export function agentArguments(configured: readonly string[], output: string): string[] {
  const args = [...configured]
  if (!hasFlag(args, ['--input-format'])) args.push('--input-format', 'stream-json')
  if (!hasFlag(args, ['--output-format', '-o'])) args.push('--output-format', output)
  return args
}

function hasFlag(args: readonly string[], names: readonly string[]): boolean {
  return args.some((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)))
}

/** The types of lines that only the shipped CLI writes. */
const SHIPPED: ReadonlySet<unknown> = new Set(['system', 'assistant', 'user', 'result', 'stream_event'])

/** True for a line of the dialect that shipped. */
export function isShipped(value: Record<string, unknown>): boolean {
  const { type, request, response } = value
  if (type === 'control_request') return isRecord(request)
  if (type === 'control_response') return isRecord(response) && typeof response['request_id'] === 'string'
  return SHIPPED.has(type)
}

/** The session that a line names: by its field, else by the id of a completion. */
export function sessionOf({ session_id: named, id }: Record<string, unknown>): string | undefined {
  if (typeof named === 'string' && named !== '') return named
  return typeof id === 'string' ? /^chatcmpl-(.+)$/.exec(id)?.[1] : undefined
}

/** What became of a line: read, not of its shape, without a place, or the end of the whole wire. */
export type Outcome = 'read' | 'misfit' | 'stray' | Fault

const TERMINAL: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id', 'channel', 'text'])

/** What else a terminal message says, beside its text. */
export function terminalExt(json: JsonText): ReturnType<typeof extOf> {
  return extOf(json, parseObject(json)!, TERMINAL)
}
