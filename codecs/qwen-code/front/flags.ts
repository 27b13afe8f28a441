import { hollowFlags, UUID, wordTable } from '../../../src/codec-kit/index.ts'
import type { Framing } from '../../../src/contract/index.ts'
import { parseObject, type TurnOptions } from '../../../src/model/index.ts'

/** The modes of consent to tools. */
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

/** The arguments while they are read, with the words without a flag and the texts to append to the system prompt. */
export interface Found extends Arguments {
  words: string[]
  systems: string[]
}

/** The setter of each flag with a value. */
export const VALUES = wordTable<(found: Found, value: string) => void>({
  '--input-format': (found, value) => setFormat(found, 'input', ['text', 'stream-json'], value),
  '--output-format': (found, value) => setFormat(found, 'output', ['text', 'json', 'stream-json'], value),
  '--approval-mode': setMode,
  '--session-id': setSession,
  '--prompt': (found, prompt) => set(found, { prompt, dialect: 'code' }),
  '--resume': (found, session) => set(found, { session }),
  '--model': (found, model) => set(found.options, { model }),
  '--json-schema': setSchema,
  '--system-prompt': (found, systemPrompt) => set(found.options, { systemPrompt }),
  '--append-system-prompt': (found, value) => found.systems.push(value),
  '--channel': (found) => set(found, { dialect: 'code' }),
  // Of the RFC alone.
  '--protocol-version': (found) => set(found, { dialect: 'rfc', refusal: 'Unknown argument: protocol-version' }),
})

/** The setting of each flag without a value. */
export const SWITCHES = wordTable<Partial<Found>>({
  '--include-partial-messages': { partial: true, dialect: 'code' },
  '--yolo': { mode: 'yolo' },
  '--version': { print: 'version' },
  '--help': { print: 'help' },
  '--bare': {},
  '--chat-recording': {},
  '--acp': { refusal: 'The Agent Client Protocol (--acp) is not spoken by this stand-in.' },
})

const AGENT = 'the agent behind the gateway has its own configuration'
const LIMITS = 'the gateway and the agent have their own limits'
const TOOLS = 'which tools the agent has is configured where it runs'
const PLACE = 'the agent runs where the gateway was configured to run it'
const FOLDER = 'the agent works where the gateway was configured to run it'

/** The flags that are not honoured. */
export const HOLLOW = hollowFlags([
  ['ignored', 'the gateway has a log of its own', '--debug'],
  ['ignored', 'nothing is drawn', '--screen-reader'],
  ['ignored', PLACE, '--sandbox --sandbox-image='],
  ['ignored', AGENT, '--proxy= --insecure --auth-type= --openai-api-key= --openai-base-url= --fallback-model='],
  ['ignored', AGENT, '--openai-logging --openai-logging-dir= --experimental-lsp --restore-ask-user-question'],
  ['ignored', AGENT, '--telemetry --telemetry-target= --telemetry-otlp-endpoint= --telemetry-otlp-protocol='],
  ['ignored', AGENT, '--telemetry-log-prompts --telemetry-outfile='],
  ['refused', 'name a session with --resume', '--continue'],
  ['refused', 'a session goes on as it is', '--fork-session'],
  ['refused', 'nothing is interactive here: use -p', '--prompt-interactive='],
  ['refused', 'say it in the system prompt', '--output-style='],
  ['refused', 'the answer is on stdout', '--json-fd= --json-file='],
  ['refused', 'the input is on stdin', '--input-file='],
  ['refused', AGENT, '--safe-mode --disabled-slash-commands='],
  ['refused', LIMITS, '--max-session-turns= --max-wall-time= --max-tool-calls= --max-subagent-depth='],
  ['refused', TOOLS, '--allowed-tools= --exclude-tools= --core-tools= --mcp-config= --allowed-mcp-server-names='],
  ['refused', TOOLS, '--extensions= --list-extensions'],
  ['refused', FOLDER, '--include-directories= --worktree='],
])

/** Words that are commands of the program where they come first. */
export const COMMANDS = 'auth board channel extensions hooks mcp review sandbox serve sessions update'.split(' ')

/** Other names of flags. */
export const SHORT = wordTable<string>({
  '-p': '--prompt',
  '-o': '--output-format',
  '-m': '--model',
  '-r': '--resume',
  '-c': '--continue',
  '-y': '--yolo',
  '-d': '--debug',
  '-s': '--sandbox',
  '-v': '--version',
  '-h': '--help',
  '--experimental-acp': '--acp',
  '-e': '--extensions',
  '-i': '--prompt-interactive',
  '-l': '--list-extensions',
  '--add-dir': '--include-directories',
})

function setFormat<K extends 'input' | 'output'>(
  found: Found,
  which: K,
  choices: readonly Found[K][],
  value: string,
): void {
  const format = choices.find((choice) => choice === value)
  if (format) found[which] = format
  else {
    if (value === 'stream-chunk-json') found.dialect = 'rfc'
    refuse(found, `Invalid value of --${which}-format. Choices: ${choices.map((one) => `"${one}"`).join(', ')}.`)
  }
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

/** Sets members of the arguments, or of their options. */
export function set<T extends object>(target: T, fields: Partial<T>): void {
  Object.assign(target, fields)
}

/** Ends the program with this reason, unless there is another one. */
export function refuse(found: Found, why: string): void {
  found.refusal ??= why
}

/** The framing of the output: lines of JSON, or a text, whose line ends are its own. */
export function framingOf({ output }: Arguments): Framing {
  return output === 'text' ? 'text' : 'ndjson'
}
