import { parseObject, type TurnOptions } from '../../../src/model/index.ts'

/** How consent to tools is given. */
export const MODES = ['plan', 'default', 'auto-edit', 'auto', 'yolo'] as const
export type Mode = (typeof MODES)[number]

/** What the argument line of `qwen` asks for. */
export interface Arguments {
  input: 'text' | 'stream-json'
  output: 'text' | 'json' | 'stream-json'
  /** Whether pieces of messages are shown as they come. */
  partial: boolean
  /** `-p`, or what stands without a flag. */
  prompt?: string
  mode: Mode
  session?: string
  /** What every turn is asked with. */
  options: TurnOptions
  /** True when text was only to be appended to the agent's own system prompt. */
  appended: boolean
  /** Print this and exit 0 instead of serving. */
  print?: 'help' | 'version'
  /** Why the program is to end at once with exit code 1. */
  refusal?: string
  /** One line each for what cannot be honoured. Values are never repeated: they may be secrets. */
  warnings: string[]
  /** Which dialect the arguments are of, where they say it. */
  dialect?: 'rfc' | 'code'
}

interface Found extends Arguments {
  words: string[]
  systems: string[]
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** What each flag with a value sets. */
const VALUES: ReadonlyMap<string, (found: Found, value: string) => void> = new Map([
  ['--input-format', (found: Found, value: string) => setInput(found, value)],
  ['--output-format', (found: Found, value: string) => setOutput(found, value)],
  ['--approval-mode', (found: Found, value: string) => setMode(found, value)],
  ['--session-id', (found: Found, value: string) => setSession(found, value)],
  ['--prompt', (found: Found, value: string) => set(found, { prompt: value, dialect: 'code' })],
  ['--resume', (found: Found, value: string) => set(found, { session: value })],
  ['--model', (found: Found, value: string) => set(found.options, { model: value })],
  ['--json-schema', (found: Found, value: string) => setSchema(found, value)],
  ['--system-prompt', (found: Found, value: string) => set(found.options, { systemPrompt: value })],
  ['--append-system-prompt', (found: Found, value: string) => void found.systems.push(value)],
  ['--channel', (found: Found) => set(found, { dialect: 'code' })],
])

/** What each flag without a value sets. */
const SWITCHES: ReadonlyMap<string, (found: Found) => void> = new Map([
  ['--include-partial-messages', (found: Found) => set(found, { partial: true, dialect: 'code' })],
  ['--yolo', (found: Found) => set(found, { mode: 'yolo' })],
  ['--version', (found: Found) => set(found, { print: 'version' })],
  ['--help', (found: Found) => set(found, { print: 'help' })],
  ['--bare', () => {}],
  ['--chat-recording', () => {}],
  [
    '--acp',
    (found: Found) => set(found, { refusal: 'The Agent Client Protocol (--acp) is not spoken by this stand-in.' }),
  ],
  ['--fork-session', (found: Found) => warn(found, '--fork-session', 'the session is gone on with as it is')],
  ['--continue', (found: Found) => warn(found, '--continue', 'name a session with --resume instead')],
  ['--debug', (found: Found) => warn(found, '--debug', 'the gateway has a log of its own')],
  [
    '--sandbox',
    (found: Found) => warn(found, '--sandbox', 'the agent runs where the gateway was configured to run it'),
  ],
])

const SHORT: ReadonlyMap<string, string> = new Map([
  ['-p', '--prompt'],
  ['-o', '--output-format'],
  ['-m', '--model'],
  ['-r', '--resume'],
  ['-c', '--continue'],
  ['-y', '--yolo'],
  ['-d', '--debug'],
  ['-s', '--sandbox'],
  ['-v', '--version'],
  ['-h', '--help'],
  ['--experimental-acp', '--acp'],
])

/** Reads the arguments behind the program's name. An unknown flag takes the word behind it with it, as the original's parser has it. */
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

/** Takes one flag; gives how many of the words behind it belong to it. */
function readFlag(found: Found, argument: string, next: string | undefined): 0 | 1 {
  const equals = argument.indexOf('=')
  const written = equals < 0 ? argument : argument.slice(0, equals)
  const flag = SHORT.get(written) ?? written
  const apply = SWITCHES.get(flag)
  if (apply) {
    apply(found)
    return 0
  }
  const own = equals < 0 ? undefined : argument.slice(equals + 1)
  const value = own ?? (next?.startsWith('-') ? undefined : next)
  const take = VALUES.get(flag)
  if (!take) {
    const name = /^--?[A-Za-z][\w-]*$/.exec(written)?.[0] ?? 'An argument'
    found.warnings.push(`${name} has no effect here and is ignored.`)
  } else if (value === undefined) refuse(found, `Not enough arguments following: ${flag.slice(2)}`)
  else take(found, value)
  return own === undefined && value !== undefined ? 1 : 0
}

/** What the arguments mean together. */
function settled({ words, systems, ...found }: Found): Arguments {
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

function setInput(found: Found, value: string): void {
  if (value === 'text' || value === 'stream-json') found.input = value
  else wrongFormat(found, 'input-format', '"text", "stream-json"', value)
}

function setOutput(found: Found, value: string): void {
  if (value === 'text' || value === 'json' || value === 'stream-json') found.output = value
  else wrongFormat(found, 'output-format', '"text", "json", "stream-json"', value)
}

function wrongFormat(found: Found, flag: string, choices: string, value: string): void {
  if (value === 'stream-chunk-json') found.dialect = 'rfc'
  refuse(found, `Invalid value of --${flag}. Choices: ${choices}.`)
}

function setMode(found: Found, value: string): void {
  found.dialect ??= 'code'
  if (isMode(value)) found.mode = value
  else refuse(found, `Invalid value of --approval-mode. Choices: ${MODES.join(', ')}.`)
}

function setSession(found: Found, value: string): void {
  if (UUID.test(value)) found.session = value
  else refuse(found, 'Invalid --session-id: it must be a UUID, such as 123e4567-e89b-12d3-a456-426614174000.')
}

function setSchema(found: Found, value: string): void {
  if (parseObject(value)) found.options.outputSchema = value
  else refuse(found, 'Invalid --json-schema: it must be a JSON object.')
}

/** True for one of the approval modes. */
export function isMode(value: unknown): value is Mode {
  return MODES.some((mode) => mode === value)
}

function set<T extends object>(target: T, fields: Partial<T>): void {
  Object.assign(target, fields)
}

function refuse(found: Found, why: string): void {
  found.refusal ??= why
}

function warn(found: Found, flag: string, why: string): void {
  found.warnings.push(`${flag} has no effect here: ${why}.`)
}

/** What `--help` prints, a line each. */
export const HELP: readonly string[] = [
  'qwen, served by turnpike: a prompt or lines of JSON on stdin, the answer on stdout.',
  '',
  'Honoured',
  '  --input-format text|stream-json         what stdin holds',
  '  --output-format, -o text|json|stream-json   what stdout gets',
  '  --include-partial-messages              show messages as they come',
  '  --prompt, -p TEXT, or TEXT alone        one prompt, then exit',
  '  --approval-mode plan|default|auto-edit|auto|yolo, --yolo, -y',
  '  --session-id UUID, --resume, -r ID      session to go on with',
  '  --model, -m ID                          model of every prompt',
  '  --system-prompt TEXT  --append-system-prompt TEXT',
  '  --json-schema JSON                      shape of the answer',
  '  --version, -v  --help, -h',
  '',
  'Everything else is accepted without effect, one line on stderr each.',
]
