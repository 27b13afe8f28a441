import { type Frame, type FrontContext, frameText } from '../../../src/contract/index.ts'
import { isRecord, parse } from '../../../src/model/index.ts'
import { readArguments } from './args.ts'

const RFC_FIELDS = ['input', 'messages', 'command', 'prompt_id', 'subtype'] as const
const RFC_TYPES: ReadonlySet<unknown> = new Set([
  'heartbeat_request',
  'command_hint_request',
  'command_hint_cancel',
  'control/cancel',
])

/** True when this dialect accepts the client: by its arguments if they decide, else by its first line. */
export function accepts(first: Frame | undefined, context: FrontContext): boolean {
  const { dialect } = readArguments(context.argv)
  if (dialect !== undefined) return dialect === 'code'
  return first !== undefined && !isOfRfc(frameText(first))
}

/** True for a line that only the RFC has. What is of neither is of the one that shipped. */
export function isOfRfc(line: string): boolean {
  const value = parse(line)
  if (!isRecord(value)) return false
  const { type, request, message } = value
  if ((type === 'user' || type === 'control_request') && (isRecord(request) || isRecord(message))) return false
  if (type === 'control_response') return typeof value['request_id'] === 'string'
  return RFC_TYPES.has(type) || RFC_FIELDS.some((field) => field in value)
}
