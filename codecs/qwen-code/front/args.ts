import { type Frame, type FrontContext, frameText } from '../../../src/contract/index.ts'
import { isRecord, parse } from '../../../src/model/index.ts'
import { type Arguments, COMMANDS, type Found, HOLLOW, refuse, SHORT, SWITCHES, set, VALUES } from './flags.ts'

/** Reads the arguments after the program's name. */
export function readArguments(argv: readonly string[]): Arguments {
  const found: Found = {
    input: 'text',
    output: 'text',
    partial: false,
    mode: 'default',
    options: {},
    appended: false,
    warnings: [],
    words: [],
    systems: [],
  }
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at]!
    if (!argument.startsWith('-') || argument === '-') found.words.push(argument)
    else at += readFlag(found, argument, argv[at + 1])
  }
  return settled(found)
}

/** Takes one flag; returns the number of words after it that belong to it. */
function readFlag(found: Found, argument: string, next: string | undefined): 0 | 1 {
  const equals = argument.indexOf('=')
  const written = equals < 0 ? argument : argument.slice(0, equals)
  const flag = SHORT.get(written) ?? written
  const fields = SWITCHES.get(flag)
  if (fields) {
    set(found, fields)
    return 0
  }
  const own = equals < 0 ? undefined : argument.slice(equals + 1)
  const value = own ?? (next?.startsWith('-') ? undefined : next)
  const take = VALUES.get(flag)
  if (!take) return readHollow(found, flag, own) && own === undefined && value !== undefined ? 1 : 0
  if (value === undefined) refuse(found, `Not enough arguments following: ${flag.slice(2)}`)
  else take(found, value)
  return own === undefined && value !== undefined ? 1 : 0
}

/** Takes a flag that is not honoured; true when a value belongs to it. An unknown one is refused, as by the program. */
function readHollow(found: Found, flag: string, own: string | undefined): boolean {
  const hollow = HOLLOW.get(flag)
  if (!hollow) {
    // `--no-` before the name of a flag without a value asks for nothing.
    const negated = flag.startsWith('--no-') ? `--${flag.slice(5)}` : ''
    if (SWITCHES.has(negated) || HOLLOW.get(negated)?.value === false) return false
    refuse(found, `Unknown argument: ${/^--?([A-Za-z][\w-]*)$/.exec(flag)?.[1] ?? '-'}`)
    return false
  }
  const { why, value, changes } = hollow
  if (own === 'false' && !value) return false
  if (changes) refuse(found, `${flag} cannot be honoured by this stand-in: ${why}.`)
  else found.warnings.push(`${flag} has no effect here: ${why}.`)
  return value
}

/** Checks and combines the arguments that depend on each other. */
function settled({ words, systems, ...found }: Found): Arguments {
  const [command = ''] = words
  if (COMMANDS.includes(command)) found.refusal ??= `The command ${command} is not served by this stand-in.`
  if (words.length > 0) {
    found.prompt ??= words.join(' ')
    found.dialect ??= 'code'
  }
  const base = found.options.systemPrompt
  if (systems.length > 0) found.options.systemPrompt = [...(base === undefined ? [] : [base]), ...systems].join('\n\n')
  found.appended = systems.length > 0 && base === undefined
  if (found.input === 'stream-json' && found.output !== 'stream-json') {
    found.refusal ??= '--input-format stream-json requires --output-format stream-json'
  }
  return found
}

const RFC_FIELDS = ['input', 'messages', 'command', 'prompt_id', 'subtype'] as const
/** The types of the requests of the RFC that are answered at once. */
export const RFC_TYPES: ReadonlySet<unknown> = new Set([
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
