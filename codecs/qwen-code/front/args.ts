import { parseObject, type TurnOptions } from '../../../src/model/index.ts'

/** The mode of consent to tools. */
export const MODES = ['plan', 'default', 'auto-edit', 'auto', 'yolo'] as const
export type Mode = (typeof MODES)[number]

/** The parsed arguments of `qwen`. */
export interface Arguments {
  input: 'text' | 'stream-json'
  output: 'text' | 'json' | 'stream-json'
  /** True when pieces of messages are shown as they come. */
  partial: boolean
  /** `-p`, or what stands without a flag. */
  prompt?: string
  mode: Mode
  session?: string
  /** The options of every turn. */
  options: TurnOptions
  /** True when text was only to be appended to the agent's own system prompt. */
  appended: boolean
  /** Print this and exit 0 instead of serving. */
  print?: 'help' | 'version'
  /** The reason to end at once with exit code 1. */
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

/** The setter of each flag with a value. */
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
  // Of the RFC alone.
  [
    '--protocol-version',
    (found: Found) => set(found, { dialect: 'rfc', refusal: 'Unknown argument: protocol-version' }),
  ],
])

/** The setter of each flag without a value. */
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
])

const AGENT = 'the agent behind the gateway has its own configuration'
const LIMITS = 'the gateway and the agent have their own limits'
const TOOLS = 'which tools the agent has is configured where it runs'

/** A flag without effect here. `value`: one follows it. `changes`: the answer would be another one, so that it is refused. */
interface Hollow {
  why: string
  value?: true
  changes?: true
}

const told = (why: string): Hollow => ({ why })
const toldWith = (why: string): Hollow => ({ why, value: true })
const refused = (why: string): Hollow => ({ why, changes: true })
const refusedWith = (why: string): Hollow => ({ why, value: true, changes: true })

/** The reason why a flag of the program has no effect here. */
const HOLLOW: ReadonlyMap<string, Hollow> = new Map([
  ['--debug', told('the gateway has a log of its own')],
  ['--sandbox', told('the agent runs where the gateway was configured to run it')],
  ['--sandbox-image', toldWith('the agent runs where the gateway was configured to run it')],
  ['--proxy', toldWith(AGENT)],
  ['--insecure', told(AGENT)],
  ['--openai-logging', told(AGENT)],
  ['--openai-logging-dir', toldWith(AGENT)],
  ['--openai-api-key', toldWith(AGENT)],
  ['--openai-base-url', toldWith(AGENT)],
  ['--auth-type', toldWith(AGENT)],
  ['--fallback-model', toldWith(AGENT)],
  ['--screen-reader', told('nothing is drawn')],
  ['--experimental-lsp', told(AGENT)],
  ['--restore-ask-user-question', told(AGENT)],
  ['--telemetry', told(AGENT)],
  ['--telemetry-target', toldWith(AGENT)],
  ['--telemetry-otlp-endpoint', toldWith(AGENT)],
  ['--telemetry-otlp-protocol', toldWith(AGENT)],
  ['--telemetry-log-prompts', told(AGENT)],
  ['--telemetry-outfile', toldWith(AGENT)],
  ['--continue', refused('name a session with --resume')],
  ['--fork-session', refused('a session goes on as it is')],
  ['--prompt-interactive', refusedWith('nothing is interactive here: use -p')],
  ['--output-style', refusedWith('say it in the system prompt')],
  ['--safe-mode', refused(AGENT)],
  ['--max-session-turns', refusedWith(LIMITS)],
  ['--max-wall-time', refusedWith(LIMITS)],
  ['--max-tool-calls', refusedWith(LIMITS)],
  ['--max-subagent-depth', refusedWith(LIMITS)],
  ['--allowed-tools', refusedWith(TOOLS)],
  ['--exclude-tools', refusedWith(TOOLS)],
  ['--core-tools', refusedWith(TOOLS)],
  ['--mcp-config', refusedWith(TOOLS)],
  ['--allowed-mcp-server-names', refusedWith(TOOLS)],
  ['--extensions', refusedWith(TOOLS)],
  ['--list-extensions', refused(TOOLS)],
  ['--disabled-slash-commands', refusedWith(AGENT)],
  ['--include-directories', refusedWith('the agent works where the gateway was configured to run it')],
  ['--worktree', refusedWith('the agent works where the gateway was configured to run it')],
  ['--json-fd', refusedWith('the answer is on stdout')],
  ['--json-file', refusedWith('the answer is on stdout')],
  ['--input-file', refusedWith('the input is on stdin')],
])

/** Words that are commands of the program where they come first. */
const COMMANDS: ReadonlySet<string> = new Set([
  'auth',
  'board',
  'channel',
  'extensions',
  'hooks',
  'mcp',
  'review',
  'sandbox',
  'serve',
  'sessions',
  'update',
])

/** Every flag that is known, for tables. */
export const FLAGS = {
  values: [...VALUES.keys()],
  switches: [...SWITCHES.keys()],
  hollow: [...HOLLOW].map(([flag, one]) => ({ flag, ...one })),
  commands: [...COMMANDS],
}

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
  ['-e', '--extensions'],
  ['-i', '--prompt-interactive'],
  ['-l', '--list-extensions'],
  ['--add-dir', '--include-directories'],
])

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
  const apply = SWITCHES.get(flag)
  if (apply) {
    apply(found)
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
  const negated = flag.startsWith('--no-') ? `--${flag.slice(5)}` : undefined
  const hollow = HOLLOW.get(flag)
  if (hollow === undefined && negated !== undefined && isSwitch(negated)) return false
  if (hollow === undefined) refuse(found, `Unknown argument: ${/^--?([A-Za-z][\w-]*)$/.exec(flag)?.[1] ?? '-'}`)
  else if (own === 'false' && hollow.value !== true) return false
  else if (hollow.changes) refuse(found, `${flag} cannot be honoured by this stand-in: ${hollow.why}.`)
  else found.warnings.push(`${flag} has no effect here: ${hollow.why}.`)
  return hollow?.value === true
}

/** True for a flag without a value: `--no-` before its name asks for nothing. */
function isSwitch(flag: string): boolean {
  const hollow = HOLLOW.get(flag)
  return SWITCHES.has(flag) || (hollow !== undefined && hollow.value === undefined)
}

/** Checks and combines the arguments that depend on each other. */
function settled({ words, systems, ...found }: Found): Arguments {
  const [command = ''] = words
  if (COMMANDS.has(command)) refuse(found, `The command ${command} is not served by this stand-in.`)
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

function refuse(found: Pick<Found, 'refusal'>, why: string): void {
  found.refusal ??= why
}

/** The lines that `--help` prints. */
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
  'Accepted without effect, one line on stderr each',
  '  --openai-api-key --openai-base-url --auth-type --proxy --debug --sandbox --telemetry and the like',
  '',
  'Refused: what would change the answer and is configured where the agent runs, such as',
  '  --continue --fork-session --max-session-turns --allowed-tools --mcp-config --include-directories',
]
