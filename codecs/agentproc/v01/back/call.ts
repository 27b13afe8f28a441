import { dropped, type Report, reportFurther, wellFormed } from '../../../../src/codec-kit/index.ts'
import type { BackContext } from '../../../../src/contract/index.ts'
import {
  type CommandOf,
  type Ext,
  type Fault,
  type Member,
  member,
  members,
  parse,
  parseObject,
} from '../../../../src/model/index.ts'
import { configured, inherited } from '../../environment.ts'
import { EXT_01, EXT_04 } from '../../ext.ts'
import { messageOf, placeholders, program, startFault, tooLong, unstartable } from '../../launch.ts'
import type { AgentProcOptions } from '../../options.ts'
import type { Prepared } from '../../process-turn.ts'
import { attachmentVariables } from './attachments.ts'

type Context = BackContext<AgentProcOptions>

const ON_STDIN_ONLY = {
  code: 'message-on-stdin-only',
  text: 'The message is too long for AGENT_MESSAGE; the agent gets it on stdin alone.',
}

/** The process of a turn, or why it cannot be started. Nothing goes through a shell. */
export function prepare(context: Context, start: CommandOf<'turn-start'>, report: Report): Prepared | Fault {
  const attached = attachmentVariables(start.input, report)
  const refused = unstartable(context, start, attached['AGENT_ATTACHMENTS'] !== undefined)
  if (refused) return refused
  const message = wellFormed(messageOf(start, report), report)
  const values = placeholders(context, start, message)
  const onStdin = context.options.stdin === 'message'
  const stdinOnly = onStdin && tooLong(`AGENT_MESSAGE=${message}`)
  const client = fromClient(start.ext, report)
  const env: Record<string, string> = {
    ...client,
    ...inherited(context),
    ...configured(context, values),
    ...attached,
    ...(!stdinOnly && { AGENT_MESSAGE: message }),
    AGENT_SESSION_ID: values.SESSION_ID,
    AGENT_SESSION_NAME: values.SESSION_NAME,
    AGENT_FROM_USER: client['AGENT_FROM_USER'] ?? '',
    AGENT_STREAMING: context.options.streaming ? '1' : '0',
    AGENT_PROTOCOL_VERSION: '0.1',
  }
  const started = program(context, tokensOf(context), values)
  return (
    startFault(started, env, 'send less, or set `stdin: message` for it') ?? {
      call: { kind: 'process', ...started, env, stdin: 'end' },
      input: onStdin ? message : undefined,
      warning: stdinOnly ? ON_STDIN_ONLY : undefined,
    }
  )
}

/** `command` is one token when there are `args` (even none), else it is split on whitespace before any substitution. */
function tokensOf({ process }: Context): string[] {
  if (!process) return []
  return process.args ? [process.command, ...process.args] : process.command.trim().split(/\s+/)
}

/** The AGENT_ variables of an AgentProc client that have no place in the model. */
function fromClient(ext: Ext | undefined, report: Report): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, json] of ext ? given(ext, report) : []) {
    const value = parse(json)
    if (typeof value === 'string' && /^AGENT_[A-Z0-9_]+$/.test(name)) found[name] = value
    else report(dropped('ext', name))
  }
  return found
}

/** The variables in an `ext`. A turn of a wire of JSON lines has one, the sender; its further members are lost. */
function given({ protocol, json }: Ext, report: Report): Member[] {
  if (protocol === EXT_01) return members(json)
  if (protocol !== EXT_04) return [[protocol, '']]
  reportFurther(parseObject(json)!, { from_user: true }, report)
  const user = member(json, 'from_user')
  return user === undefined ? [] : [['AGENT_FROM_USER', user]]
}
