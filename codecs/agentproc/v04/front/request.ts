import * as v from 'valibot'
import { dropped, type Report, unparsed, weakened } from '../../../../src/codec-kit/index.ts'
import {
  type Ext,
  elements,
  type JsonText,
  member,
  type Part,
  parse,
  rest,
  type SessionRef,
} from '../../../../src/model/index.ts'
import { ANY_VIDEO } from '../../attachments.ts'
import { toExt } from '../../ext.ts'
import { fromWireSession } from '../../session.ts'
import { attachmentSchema, TURN_MEMBERS, type Turn, turnSchema, unpadded } from '../schema.ts'

const WITHOUT_SENDER: ReadonlySet<string> = new Set([...TURN_MEMBERS, 'from_user'])

/** The turn that a line holds, or undefined when it holds none. */
export function readTurn(line: string): Turn | undefined {
  const { success, output } = v.safeParse(turnSchema, parse(unpadded(line)))
  return success ? output : undefined
}

/** The prompt's parts: the message, then what is attached. */
export function inputOf(turn: Turn, line: string, report: Report): Part[] {
  const text: Part[] = turn.message === '' ? [] : [{ type: 'text', text: turn.message }]
  return [...text, ...elements(member(unpadded(line), 'attachments') ?? '').flatMap((one) => attached(one, report))]
}

function attached(json: JsonText, report: Report): Part[] {
  const { success, output } = v.safeParse(attachmentSchema, parse(json))
  if (!success) {
    report(unparsed('part.file', 'attachments'))
    return []
  }
  const { kind, url, filename, mime_type, size, ...others } = output
  for (const field of Object.keys(others)) report(dropped('ext', field))
  const blob = { url, ...(filename && { name: filename }), ...(size !== undefined && { bytes: size }) }
  const mime = mime_type ? { mime: mime_type } : {}
  if (kind === 'video')
    return [{ type: 'file', ...blob, mime: mime_type?.startsWith('video/') ? mime_type : ANY_VIDEO }]
  if (kind !== 'other') return [{ type: kind, ...blob, ...mime }]
  report(weakened('part.file', 'kind'))
  return [{ type: 'file', ...blob, ...mime }]
}

/** The conversation: an empty session id asks for a new one. */
export function sessionOf({ session_id, session_name }: Turn): SessionRef {
  return { ...(session_id && { id: fromWireSession(session_id) }), ...(session_name && { name: session_name }) }
}

/** Members of the turn without a place in the model; an empty sender counts as absent. */
export function turnExt(line: string): Ext | undefined {
  const turn = unpadded(line)
  return toExt(rest(turn, member(turn, 'from_user') === '""' ? WITHOUT_SENDER : TURN_MEMBERS))
}
