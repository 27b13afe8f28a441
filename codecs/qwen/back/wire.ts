import { type CallEnd, faultOfEnd } from '../../../src/contract/index.ts'
import { type Fault, fault, isRecord, type JsonText, parseObject } from '../../../src/model/index.ts'
import { unknownExt } from '../wire.ts'

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

/** The shipped CLI's refusal, on standard error, of a format that only the RFC has. */
const UNKNOWN_FORMAT = /Argument: (?:in|out)put-format, Given: "stream-chunk-json"/

/** The fault of an agent that speaks the shipped dialect, by its name in the configuration. */
export function shippedFault(agent: string): Fault {
  return fault(
    'protocol-violation',
    `The agent "${agent}" speaks the dialect of the shipped CLI: set protocol: qwen-code for it.`,
  )
}

/** The fault for the end of the agent's process; the shipped CLI does not start with the RFC's arguments. */
export function endFault(end: CallEnd, agent: string): Fault {
  return UNKNOWN_FORMAT.test(end.stderr ?? '') ? shippedFault(agent) : faultOfEnd(end)
}

/** The session that a line names: by its field, else by the id of a completion. */
export function sessionOf({ session_id: named, id }: Record<string, unknown>): string | undefined {
  if (typeof named === 'string' && named !== '') return named
  return typeof id === 'string' ? /^chatcmpl-(.+)$/.exec(id)?.[1] : undefined
}

/** The result of reading a line: read, not of its shape, without a place, or the end of the whole wire. */
export type Outcome = 'read' | 'misfit' | 'stray' | Fault

const TERMINAL: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id', 'channel', 'text'])

/** The members of a terminal message besides its text. */
export function terminalExt(json: JsonText): ReturnType<typeof unknownExt> {
  return unknownExt(json, parseObject(json)!, TERMINAL)
}
