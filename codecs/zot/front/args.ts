import { hollowFlags, wordTable } from '../../../src/codec-kit/index.ts'
import type { TurnOptions } from '../../../src/model/index.ts'

/** The mode of the program: the loop of commands, one prompt whose last message is printed, or one whose events are. */
export type Mode = 'rpc' | 'print' | 'json'

/** The parsed arguments of `zot`. */
export interface Arguments {
  mode: Mode
  /** The words that are no flags: the prompt of the modes with one. */
  prompt: string
  /** Print this and exit 0 instead of serving. */
  print?: 'help' | 'version' | 'models'
  /** The reason why the program cannot run: it is written to stderr and the exit code is 1. */
  refused?: string
  /** The options of every prompt. */
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
  words: string[]
  /** A mode was named. */
  named?: true
  /** Flags that are not honoured: a warning each, or the reason of a refusal. */
  hollow: string[]
}

const LEVELS: ReadonlySet<string> = new Set(['', 'low', 'medium', 'high'])

/** The setter of each flag with a value. */
const VALUES = wordTable<(found: Found, value: string) => void>({
  '--model': (found, value) => set(found.options, { model: value }),
  '--reasoning': (found, value) => setEffort(found, value.toLowerCase()),
  '--tools': (found, value) => set(found.options, { tools: listOf(value) }),
  '--system-prompt': (found, value) => set(found, { base: value }),
  '--append-system-prompt': (found, value) => set(found, { extra: [...found.extra, value] }),
  '--session': (found, value) => set(found, { session: value }),
  '--provider': (found, value) => set(found, { provider: value }),
})

/** The setter of each flag without a value. */
const SWITCHES = wordTable<(found: Found) => void>({
  '--rpc': (found) => setMode(found, 'rpc'),
  '-p': (found) => setMode(found, 'print'),
  '--print': (found) => setMode(found, 'print'),
  '--json': (found) => setMode(found, 'json'),
  // The only thing it asks for is what this mode does anyway.
  '--no-session': () => {},
  // The program has no use for it any more.
  '--experimental-oauth': () => {},
  '--no-tools': (found) => set(found.options, { tools: [] }),
  '--version': (found) => set(found, { print: 'version' }),
  '-v': (found) => set(found, { print: 'version' }),
  '--help': (found) => set(found, { print: 'help' }),
  '-h': (found) => set(found, { print: 'help' }),
  '--list-models': (found) => set(found, { print: 'models' }),
})

/**
 * The flags that are not honoured, or not wholly. The refused ones are refused with a single prompt; in the loop they
 * are reported on stderr: clients pass them whenever they start the program.
 */
const HOLLOW = hollowFlags([
  ['ignored', 'the agent behind the gateway has its own provider', '--provider='],
  ['ignored', 'the agent behind the gateway has its own credentials', '--api-key='],
  ['ignored', 'the agent behind the gateway has its own endpoint', '--base-url='],
  ['ignored', 'nobody can be asked before a tool runs in this mode', '--no-yolo'],
  ['refused', 'the agent works where the gateway was configured to run it', '--cwd='],
  ['refused', 'the number of steps is limited by the agent itself', '--max-steps='],
  ['refused', 'extensions are configured where the agent runs', '--ext= -e= --no-ext --no-extensions'],
  ['refused', 'skills are configured where the agent runs', '--no-skill --no-skills --with-skills --with-skill'],
  ['refused', 'name a session with --session instead', '--continue -c --resume -r'],
])

/** Every flag that is known, for tables. */
export const FLAGS = {
  values: [...VALUES.keys()],
  switches: [...SWITCHES.keys()],
  hollow: [...HOLLOW.keys()],
  changing: [...HOLLOW].flatMap(([flag, { changes }]) => (changes ? [flag] : [])),
}

/** Reads the arguments after the program's name. What the program itself refuses is refused in its words. */
export function readArguments(argv: readonly string[]): Arguments {
  const found: Found = {
    mode: 'rpc',
    prompt: '',
    options: {},
    appended: false,
    warnings: [],
    base: undefined,
    extra: [],
    words: [],
    hollow: [],
  }
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at]!
    const apply = VALUES.get(argument)
    const hollow = HOLLOW.get(argument)
    if (apply || hollow?.value) {
      at += 1
      const value = argv[at]
      if (value === undefined) refuse(found, `${argument} requires a value`)
      else if (argument === '--max-steps' && !/^\d*[1-9]/.test(value)) {
        refuse(found, '--max-steps must be a positive integer')
      } else apply?.(found, value)
    }
    if (hollow) found.hollow.push(argument)
    else if (!apply) readWord(found, argument, at)
  }
  return finished(found)
}

function finished({ base, extra, words, named, hollow, ...read }: Found): Arguments {
  const systemPrompt = [base ?? '', ...extra].filter((text) => text !== '').join('\n\n')
  if (systemPrompt !== '') read.options.systemPrompt = systemPrompt
  read.appended = base === undefined && systemPrompt !== ''
  read.prompt = words.join(' ')
  for (const flag of hollow) {
    const { why, changes } = HOLLOW.get(flag)!
    if (changes && read.mode !== 'rpc') read.refused ??= `${flag} cannot be honoured: ${why}`
    else read.warnings.push(`${flag} has no effect here: ${why}.`)
  }
  if (words.length > 0 && read.mode === 'rpc') {
    if (named) read.warnings.push('A prompt among the arguments is ignored in this mode.')
    else read.refused ??= 'the interactive mode is not served here: use rpc, or -p or --json with a prompt'
  }
  return read
}

/** `rpc` is a mode as the first word, or where no other argument names the mode. */
function readWord(found: Found, argument: string, at: number): void {
  const apply = SWITCHES.get(argument)
  if (apply) apply(found)
  else if (argument === 'rpc' && (at === 0 || found.mode === 'rpc')) setMode(found, 'rpc')
  else if (argument.startsWith('-') && argument !== '-') refuse(found, `unknown flag ${nameOf(argument)}`)
  else found.words.push(argument)
}

function setMode(found: Found, mode: Mode): void {
  set(found, { mode, named: true })
}

function setEffort(found: Found, effort: string): void {
  if (!LEVELS.has(effort)) refuse(found, '--reasoning must be low|medium|high')
  else if (effort !== '') set(found.options, { effort })
}

/** The first reason counts. */
function refuse(found: Found, why: string): void {
  found.refused ??= why
}

function set<T extends object>(target: T, fields: Partial<T>): void {
  Object.assign(target, fields)
}

/** The value of an unknown flag may be a secret: only its name is shown. */
function nameOf(argument: string): string {
  return JSON.stringify(/^--?[A-Za-z][\w-]*/.exec(argument)?.[0] ?? '-')
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** The lines that `--help` prints. */
export const HELP: readonly string[] = [
  'zot, served by turnpike.',
  '',
  'Modes',
  '  zot rpc                      one JSON object a line on stdin and stdout',
  '  zot -p PROMPT                prints the final text (--print; without PROMPT it is read from stdin)',
  '  zot --json PROMPT            prints the events of the prompt, one JSON object a line',
  '',
  'Honoured',
  '  --model ID                   model of every prompt',
  '  --reasoning LEVEL            reasoning effort: low, medium or high',
  '  --system-prompt TEXT         system prompt',
  '  --append-system-prompt TEXT  more of it (repeatable)',
  '  --tools A,B  --no-tools      tools that the agent may use',
  '  --session ID                 conversation to go on with',
  '  --list-models  --version  --help',
  '',
  'Accepted without effect, one line on stderr each',
  '  --provider --api-key --base-url --no-yolo',
  '',
  'The same in rpc mode; refused with a prompt',
  '  --cwd --max-steps --ext --no-ext --no-skill --with-skills --continue --resume',
  '',
  'Environment',
  '  ZOTCORE_RPC_TOKEN            when set, hello must bring it',
]
