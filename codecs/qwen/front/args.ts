import { type Frame, type FrontContext, frameText } from '../../../src/contract/index.ts'
import { isRecord, parseObject } from '../../../src/model/index.ts'
import { FORMATS, type Format, PROTOCOL_VERSION } from '../wire.ts'

/** The parsed arguments of the client (or the query of its request). */
export interface Arguments {
  input?: Format
  output?: Format
  model?: string
  session?: string
  systemPrompt?: string
  /** A prompt on the argument line. */
  prompt?: string
  /** Print this and exit 0 instead of serving. */
  print?: 'help' | 'version'
  /** The requested capabilities that this implementation does not have. */
  unsupported?: string
  /** The reason to end at once with exit code 1. Values are never repeated: they may be secrets. */
  refused?: string
}

const VALUES: ReadonlyMap<string, (found: Arguments, value: string) => void> = new Map([
  ['--input-format', (found: Arguments, value: string) => setFormat(found, 'input', value)],
  ['--output-format', (found: Arguments, value: string) => setFormat(found, 'output', value)],
  ['-o', (found: Arguments, value: string) => setFormat(found, 'output', value)],
  ['--protocol-version', (found: Arguments, value: string) => setVersion(found, value)],
  ['--model', (found: Arguments, value: string) => set(found, { model: value })],
  ['-m', (found: Arguments, value: string) => set(found, { model: value })],
  ['--session-id', (found: Arguments, value: string) => set(found, { session: value })],
  ['--resume', (found: Arguments, value: string) => set(found, { session: value })],
  ['--system-prompt', (found: Arguments, value: string) => set(found, { systemPrompt: value })],
  ['--prompt', (found: Arguments, value: string) => set(found, { prompt: value })],
  ['-p', (found: Arguments, value: string) => set(found, { prompt: value })],
])

const PRINTS: ReadonlyMap<string, 'help' | 'version'> = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
  ['-v', 'version'],
])

/** Reads the arguments after the program's name. */
export function readArguments(argv: readonly string[]): Arguments {
  const found: Arguments = {}
  const words = argv.flatMap(splitFlag)
  for (let at = 0; at < words.length; at += 1) {
    const flag = words[at]!
    const apply = VALUES.get(flag)
    const print = PRINTS.get(flag)
    if (print) found.print = print
    else if (!apply) found.refused ??= unknownArgument(flag)
    else {
      at += 1
      const value = words[at]
      if (value === undefined) found.refused ??= `${flag} needs a value.`
      else apply(found, value)
    }
  }
  return found
}

/** Reads what an HTTP request asks for: the same settings in its query, with underscores, and the session header. */
export function readQuery(context: FrontContext): Arguments {
  const found: Arguments = {}
  for (const [key, value] of new URLSearchParams(context.query)) {
    VALUES.get(`--${key.replaceAll('_', '-')}`)?.(found, value)
  }
  const session = context.headers['turnpike-session']
  if (session) found.session = session
  return found
}

/** The reason why a version is not supported; undefined when it is. Minor versions are compatible. */
export function beyondVersion(version: string): string | undefined {
  const major = PROTOCOL_VERSION.split('.')[0]
  if (version.replace(/^v/i, '').split('.')[0] === major) return undefined
  return `Protocol version ${JSON.stringify(version.slice(0, 40))} was asked for; this program speaks ${PROTOCOL_VERSION}: ask for that one, or for none.`
}

/** A format's name, or undefined when there is none of that name. */
export function formatOf(value: unknown): Format | undefined {
  return FORMATS.find((format) => format === value)
}

function setFormat(found: Arguments, which: 'input' | 'output', value: string): void {
  const format = formatOf(value)
  if (format) found[which] = format
  else set(found, { unsupported: `The ${which} format is not known: use ${FORMATS.join(', ')}.` })
}

function setVersion(found: Arguments, value: string): void {
  const why = beyondVersion(value)
  if (why !== undefined) found.unsupported = why
}

function set(found: Arguments, fields: Partial<Arguments>): void {
  Object.assign(found, fields)
}

/** `--flag=value` as two words. */
function splitFlag(word: string): string[] {
  const [, flag, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
  return flag === undefined ? [word] : [flag, value!]
}

function unknownArgument(argument: string): string {
  const name = /^--?[A-Za-z][\w-]*/.exec(argument)?.[0]
  return name === undefined
    ? 'An argument is no flag: write a prompt behind --prompt.'
    : `${name} is not known: --help lists the arguments that are.`
}

/** Messages that only this dialect has. */
const OWN_TYPES: ReadonlySet<unknown> = new Set([
  'command_hint_request',
  'command_hint_cancel',
  'heartbeat_request',
  'control/cancel',
])

/**
 * True when a client on stdio speaks this dialect: its arguments name the format that only this one has, or its first line
 * is a request that only this one has.
 */
export function accepts(first: Frame | undefined, context: FrontContext): boolean {
  if (first === undefined) {
    const { input, output } = readArguments(context.argv)
    return input === 'stream-chunk-json' || output === 'stream-chunk-json'
  }
  const line = parseObject(frameText(first))
  if (!line) return false
  const { type } = line
  if ((type === 'user' || type === 'control_request') && (isRecord(line['request']) || isRecord(line['message']))) {
    return false
  }
  return (
    OWN_TYPES.has(type) ||
    isRecord(line['input']) ||
    Array.isArray(line['messages']) ||
    typeof line['subtype'] === 'string' ||
    (type === 'control_response' && typeof line['request_id'] === 'string')
  )
}

/** The lines that `--help` prints. */
export const HELP: readonly string[] = [
  'qwen, served by turnpike: structured input and output as its RFC has it.',
  '',
  '  --input-format F      text (default), stream-json, stream-chunk-json',
  '  --output-format F     text (default), stream-json, stream-chunk-json',
  '  --protocol-version V  the version that the client speaks',
  '  --session-id ID       session of requests that name none',
  '  --model M             model of requests that name none',
  '  --system-prompt TEXT  system prompt of every request',
  '  --prompt TEXT         one prompt instead of standard input',
  '  --help  --version',
]
