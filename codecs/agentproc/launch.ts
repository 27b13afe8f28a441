import { type Report, weakened, withInstruction } from '../../src/codec-kit/index.ts'
import type { BackContext, Call } from '../../src/contract/index.ts'
import { type CommandOf, type Fault, fault, textOf } from '../../src/model/index.ts'
import type { AgentProcOptions } from './options.ts'
import { type Placeholders, substitute, workingFolder } from './substitute.ts'

type Context = BackContext<AgentProcOptions>

/** A process as a call. */
export type ProcessCall = Extract<Call, { kind: 'process' }>

/** The command line and environment of a process, from the configuration. */
export type Program = Pick<ProcessCall, 'command' | 'args' | 'cwd'>

/** The longest string of a process's arguments and environment on Linux, in bytes with its final NUL. */
const LONGEST_STRING = 128 * 1024

/** True for a string that cannot be an argument or a variable. */
export function tooLong(text: string): boolean {
  return text.length * 3 >= LONGEST_STRING && new TextEncoder().encode(text).length >= LONGEST_STRING
}

/** The message of a turn. There is no field for a system prompt: it goes in front of the prompt's text. */
export function messageOf({ input, options }: CommandOf<'turn-start'>, report: Report): string {
  const text = textOf(input)
  if (!options.systemPrompt) return text
  report(weakened('option.systemPrompt'))
  return withInstruction(options.systemPrompt, text)
}

/** The values of the placeholders in one turn. */
export function placeholders(context: Context, { session }: CommandOf<'turn-start'>, message: string): Placeholders {
  return {
    MESSAGE: message,
    SESSION_ID: session?.bound ?? '',
    SESSION_NAME: session?.name || 'default',
    PROFILE_DIR: context.folder,
  }
}

/** The command's tokens with their placeholders filled. Nothing when the configuration is not ours to read. */
export function program(context: Context, tokens: readonly string[], values: Placeholders): Program {
  if (!context.process) return {}
  const [command, ...args] = tokens.map((token) => substitute(token, values))
  return { command: command!, args, cwd: workingFolder(context.process.cwd, context.folder) }
}

/** The reason why no process can be started for this turn, whatever the agent is; else undefined. */
export function unstartable(context: Context, start: CommandOf<'turn-start'>, attached: boolean): Fault | undefined {
  if (context.process?.command.trim() === '') {
    return fault('agent-unavailable', `The agent ${context.agent} has no command; set \`command\`.`)
  }
  if (textOf(start.input) === '' && !attached) {
    return fault('invalid-request', 'The turn has neither a message nor an attachment; send one of them.')
  }
}

/** The fault for a value that the system would refuse at the start of a process. `hint` says what helps. */
export function startFault(
  { command = '', args = [] }: Program,
  env: Readonly<Record<string, string>>,
  hint: string,
): Fault | undefined {
  const strings = [
    ...[command, ...args].map((arg) => ['an argument of its command', arg] as const),
    ...Object.entries(env).map(([name, value]) => [name, `${name}=${value}`] as const),
  ]
  for (const [place, text] of strings) {
    if (text.includes('\0')) {
      return fault('invalid-request', `The agent cannot be given a NUL character in ${place}; remove it.`)
    }
    if (tooLong(text)) {
      return fault('payload-too-large', `The agent cannot be given more than 128 KiB in ${place}; ${hint}.`)
    }
  }
}
