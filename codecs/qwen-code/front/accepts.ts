import { type Frame, type FrontContext, frameText } from '../../../src/contract/index.ts'
import { isRecord, parse } from '../../../src/model/index.ts'
import { readArguments } from './args.ts'

const RFC_FIELDS = ['input', 'messages', 'command', 'prompt_id']
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
function isOfRfc(line: string): boolean {
  const value = parse(line)
  if (!isRecord(value)) return false
  const { type } = value
  if ((type === 'user' || type === 'control_request') && (isRecord(value['request']) || isRecord(value['message']))) {
    return false
  }
  return RFC_TYPES.has(type) || 'subtype' in value || RFC_FIELDS.some((field) => field in value)
}
