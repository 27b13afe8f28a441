import { wordTable } from '../../../src/codec-kit/index.ts'
import { type Frame, type FrontContext, frameText } from '../../../src/contract/index.ts'
import { isOfRfc } from '../../qwen-code/index.ts'
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

/** The setting of each flag with a value. */
const VALUES = wordTable<(value: string) => Partial<Arguments>>({
  '--input-format': (value) => formatFor('input', value),
  '--output-format': (value) => formatFor('output', value),
  '--protocol-version': versionFor,
  '--model': (model) => ({ model }),
  '--session-id': (session) => ({ session }),
  '--resume': (session) => ({ session }),
  '--system-prompt': (systemPrompt) => ({ systemPrompt }),
  '--prompt': (prompt) => ({ prompt }),
})

const SHORT = wordTable<string>({
  '-o': '--output-format',
  '-m': '--model',
  '-p': '--prompt',
  '-h': '--help',
  '-v': '--version',
})

const PRINTS = wordTable<'help' | 'version'>({ '--help': 'help', '--version': 'version' })

/** Reads the arguments after the program's name. */
export function readArguments(argv: readonly string[]): Arguments {
  const found: Arguments = {}
  const words = argv.flatMap(splitFlag)
  for (let at = 0; at < words.length; at += 1) {
    const flag = words[at]!
    const name = SHORT.get(flag) ?? flag
    const read = VALUES.get(name)
    const print = PRINTS.get(name)
    if (print) found.print = print
    else if (!read) found.refused ??= unknownArgument(flag)
    else {
      at += 1
      const value = words[at]
      if (value === undefined) found.refused ??= `${flag} needs a value.`
      else Object.assign(found, read(value))
    }
  }
  return found
}

/** Reads what an HTTP request asks for: the same settings in its query, with underscores, and the session header. */
export function readQuery(context: FrontContext): Arguments {
  const found: Arguments = {}
  for (const [key, value] of new URLSearchParams(context.query)) {
    Object.assign(found, VALUES.get(`--${key.replaceAll('_', '-')}`)?.(value))
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

function formatFor(which: 'input' | 'output', value: string): Partial<Arguments> {
  const format = formatOf(value)
  if (format) return { [which]: format }
  return { unsupported: `The ${which} format is not known: use ${FORMATS.join(', ')}.` }
}

function versionFor(value: string): Partial<Arguments> {
  const unsupported = beyondVersion(value)
  return unsupported === undefined ? {} : { unsupported }
}

/** `--flag=value` as two words. */
function splitFlag(word: string): string[] {
  const [, flag, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
  return flag === undefined ? [word] : [flag, value!]
}

function unknownArgument(argument: string): string {
  const name = /^--?[A-Za-z][\w-]*/.exec(argument)?.[0]
  return name === undefined
    ? 'An argument is not a flag: write a prompt after --prompt.'
    : `${name} is not known: --help lists the arguments that are.`
}

/**
 * True when a client on stdio speaks this dialect: its arguments name the format that only this one has, or its first line
 * is a request that only this one has.
 */
export function accepts(first: Frame | undefined, context: FrontContext): boolean {
  if (first !== undefined) return isOfRfc(frameText(first))
  const { input, output } = readArguments(context.argv)
  return input === 'stream-chunk-json' || output === 'stream-chunk-json'
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
