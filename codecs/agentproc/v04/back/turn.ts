import { dropped, type Report, reportFurther } from '../../../../src/codec-kit/index.ts'
import type { BackContext } from '../../../../src/contract/index.ts'
import {
  append,
  type CommandOf,
  type Ext,
  type Fault,
  type JsonText,
  member,
  object,
  parseObject,
  quote,
  rest,
} from '../../../../src/model/index.ts'
import { ANY_VIDEO, type FilePart, isFile, isVideo, urlOf } from '../../attachments.ts'
import { configured, inherited } from '../../environment.ts'
import { EXT_01, EXT_04 } from '../../ext.ts'
import { messageOf, placeholders, program, startFault, unstartable } from '../../launch.ts'
import type { AgentProcOptions } from '../../options.ts'
import type { Prepared } from '../../process-turn.ts'
import type { TypedVersion } from '../../versions.ts'
import { ascii, TURN_MEMBERS } from '../schema.ts'

/** In 0.3 the sender is a member of every turn. */
const MEMBERS_03: ReadonlySet<string> = new Set([...TURN_MEMBERS, 'from_user'])

/** The process of a turn and its turn object, or why it cannot be started. `command` is always one token. */
export function prepare(
  version: TypedVersion,
  context: BackContext<AgentProcOptions>,
  start: CommandOf<'turn-start'>,
  report: Report,
): Prepared | Fault {
  const { options, process } = context
  const attachments = start.input.filter(isFile).flatMap((part) => attachment(part, report))
  const refused = unstartable(context, start, attachments.length > 0)
  if (refused) return refused
  const message = messageOf(start, report)
  const values = placeholders(context, start, message)
  const env = { ...inherited(context), ...configured(context, values) }
  const started = program(context, [process?.command ?? '', ...(process?.args ?? [])], values)
  const turn = object({
    type: '"turn"',
    message: quote(message),
    session_id: quote(values.SESSION_ID),
    session_name: quote(values.SESSION_NAME),
    from_user: version === '0.3' ? ((start.ext && sender(start.ext)) ?? '""') : undefined,
    protocol_version: quote(version),
    attachments: attachments.length > 0 ? `[${attachments.join(',')}]` : undefined,
    permission: options.permission ? 'true' : undefined,
  })
  return (
    startFault(started, env, 'leave {{MESSAGE}} out of its command and environment') ?? {
      call: { kind: 'process', ...started, env, stdin: options.permission ? 'open' : 'end' },
      input: ascii(append(turn, unknownMembers(version, start.ext, report))),
    }
  )
}

function attachment(part: FilePart, report: Report): JsonText[] {
  const url = urlOf(part, report)
  if (url === undefined) return []
  const { mime, name, bytes } = part
  return [
    object({
      kind: quote(isVideo(part) ? 'video' : part.type),
      url: quote(url),
      filename: quote(name),
      mime_type: mime === undefined || mime === ANY_VIDEO ? undefined : quote(mime),
      size: bytes?.toString(),
    }),
  ]
}

/** The sender of the turn, as a client of any AgentProc wire named it. */
function sender({ protocol, json }: Ext): JsonText | undefined {
  if (protocol === EXT_04) return member(json, 'from_user')
  return protocol === EXT_01 ? member(json, 'AGENT_FROM_USER') : undefined
}

/** The unknown members that a client of a wire of JSON lines sent, and the sender that one of wire 0.1 named. */
function unknownMembers(version: TypedVersion, ext: Ext | undefined, report: Report): JsonText | undefined {
  if (!ext) return undefined
  const user = sender(ext)
  if (ext.protocol === EXT_04) return rest(ext.json, version === '0.3' ? MEMBERS_03 : TURN_MEMBERS)
  if (ext.protocol === EXT_01) reportFurther(parseObject(ext.json)!, { AGENT_FROM_USER: true }, report)
  else report(dropped('ext', ext.protocol))
  return user === undefined || version === '0.3' ? undefined : object({ from_user: user })
}
