import type { TurnOptions } from '../../src/model/index.ts'

/** What the argument line of `zot rpc` asks for. Nothing in it is an error. */
export interface Arguments {
  /** Print this and exit 0 instead of serving. */
  print?: 'help' | 'version' | 'models'
  /** What every prompt is asked with. */
  options: TurnOptions
  /** True when text was only to be appended to the agent's own system prompt. */
  appended: boolean
  session?: string
  provider?: string
  /** One line each for what cannot be honoured. Values are never repeated: they may be secrets. */
  warnings: string[]
}

interface Found extends Arguments {
  base: string | undefined
  extra: string[]
}

/** What each flag with a value sets. */
const VALUES: ReadonlyMap<string, (found: Found, value: string) => void> = new Map([
  ['--model', (found: Found, value: string) => set(found.options, { model: value })],
  ['--reasoning', (found: Found, value: string) => set(found.options, { effort: value })],
  ['--tools', (found: Found, value: string) => set(found.options, { tools: listOf(value) })],
  ['--system-prompt', (found: Found, value: string) => set(found, { base: value })],
  ['--append-system-prompt', (found: Found, value: string) => set(found, { extra: [...found.extra, value] })],
  ['--session', (found: Found, value: string) => set(found, { session: value })],
  ['--provider', (found: Found, value: string) => set(found, { provider: value })],
])

/** What each flag without a value sets. */
const SWITCHES: ReadonlyMap<string, (found: Found) => void> = new Map([
  ['rpc', () => {}],
  ['--rpc', () => {}],
  // The only thing it asks for is what this mode does anyway.
  ['--no-session', () => {}],
  ['--no-tools', (found: Found) => set(found.options, { tools: [] })],
  ['--version', (found: Found) => set(found, { print: 'version' })],
  ['-v', (found: Found) => set(found, { print: 'version' })],
  ['--help', (found: Found) => set(found, { print: 'help' })],
  ['-h', (found: Found) => set(found, { print: 'help' })],
  ['--list-models', (found: Found) => set(found, { print: 'models' })],
])

/** Why a flag is not honoured, or not wholly; `value` tells whether one follows it. */
const HOLLOW: ReadonlyMap<string, { why: string; value: boolean }> = new Map([
  ['--provider', { why: 'the agent behind the gateway has its own provider', value: true }],
  ['--cwd', { why: 'the agent works where the gateway was configured to run it', value: true }],
  ['--api-key', { why: 'the agent behind the gateway has its own credentials', value: true }],
  ['--base-url', { why: 'the agent behind the gateway has its own endpoint', value: true }],
  ['--max-steps', { why: 'the number of steps is limited by the agent itself', value: true }],
  ['--ext', { why: 'extensions are configured where the agent runs', value: true }],
  ['--no-ext', { why: 'extensions are configured where the agent runs', value: false }],
  ['--no-skill', { why: 'skills are configured where the agent runs', value: false }],
  ['--with-skills', { why: 'skills are configured where the agent runs', value: false }],
  ['--no-yolo', { why: 'nobody can be asked before a tool runs in this mode', value: false }],
  ['--continue', { why: 'name a session with --session instead', value: false }],
  ['-c', { why: 'name a session with --session instead', value: false }],
  ['--resume', { why: 'name a session with --session instead', value: false }],
  ['-r', { why: 'name a session with --session instead', value: false }],
])

/** Reads the arguments behind the program's name. */
export function readArguments(argv: readonly string[]): Arguments {
  const found: Found = { options: {}, appended: false, warnings: [], base: undefined, extra: [] }
  for (let at = 0; at < argv.length; at += 1) {
    const flag = argv[at]!
    const apply = VALUES.get(flag)
    const hollow = HOLLOW.get(flag)
    if (apply || hollow?.value) {
      at += 1
      const value = argv[at]
      if (value === undefined) found.warnings.push(`${flag} has no value and is ignored.`)
      else apply?.(found, value)
    }
    if (hollow) found.warnings.push(`${flag} has no effect here: ${hollow.why}.`)
    else if (!apply) readSwitch(found, flag)
  }
  const { base, extra, ...read } = found
  const systemPrompt = [base ?? '', ...extra].filter((text) => text !== '').join('\n\n')
  if (systemPrompt !== '') read.options.systemPrompt = systemPrompt
  read.appended = base === undefined && systemPrompt !== ''
  return read
}

function readSwitch(found: Found, flag: string): void {
  const apply = SWITCHES.get(flag)
  if (apply) apply(found)
  else found.warnings.push(unknownArgument(flag))
}

function set<T extends object>(target: T, fields: Partial<T>): void {
  Object.assign(target, fields)
}

/** A word, or the value of an unknown flag, may be a secret: only the name of a flag is shown. */
function unknownArgument(argument: string): string {
  const name = /^--?[A-Za-z][\w-]*/.exec(argument)?.[0]
  return name === undefined
    ? 'An argument that is no flag is ignored.'
    : `${name} is not known in this form and is ignored.`
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** What `--help` prints, a line each. */
export const HELP: readonly string[] = [
  'zot rpc, served by turnpike: one JSON object a line on stdin and stdout.',
  '',
  'Honoured',
  '  --model ID                   model of every prompt',
  '  --reasoning LEVEL            reasoning effort',
  '  --system-prompt TEXT         system prompt',
  '  --append-system-prompt TEXT  more of it (repeatable)',
  '  --tools A,B  --no-tools      tools that the agent may use',
  '  --session ID                 conversation to go on with',
  '  --list-models  --version  --help',
  '',
  'Accepted without effect, one line on stderr each',
  '  --provider --cwd --api-key --base-url --max-steps --ext --continue --resume',
  '  --no-yolo --no-ext --no-skill --with-skills',
  '',
  'Environment',
  '  ZOTCORE_RPC_TOKEN            when set, hello must bring it',
]
