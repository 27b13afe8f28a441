import * as v from 'valibot'
import { dropped, type Report, unparsed } from '../../../../src/codec-kit/index.ts'
import { elements, object, type Part, parse, quote, type SessionRef } from '../../../../src/model/index.ts'
import { ANY_VIDEO } from '../../attachments.ts'
import { fromWireSession } from '../../session.ts'
import { attachmentSchema } from '../schema.ts'

/** AGENT_ variables by name, from the environment or from a body. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The variables that mean something on this wire; a stand-in reads these and no others. */
export const VARIABLES = [
  'AGENT_MESSAGE',
  'AGENT_SESSION_ID',
  'AGENT_SESSION_NAME',
  'AGENT_FROM_USER',
  'AGENT_STREAMING',
  'AGENT_PROTOCOL_VERSION',
  'AGENT_IMAGE_URL',
  'AGENT_FILE_URL',
  'AGENT_ATTACHMENTS',
] as const

/** The variables that travel in `ext`: those without a place in the model. */
const UNPLACED: ReadonlySet<string> = new Set(VARIABLES.filter((name) => name !== 'AGENT_FROM_USER'))

/** The prompt's parts: the message, then what is attached. */
export function inputOf(variables: Variables, report: Report): Part[] {
  const message = variables['AGENT_MESSAGE'] ?? ''
  return [...(message === '' ? [] : [{ type: 'text' as const, text: message }]), ...attached(variables, report)]
}

/** The list when there is one, else the variables of a single attachment. */
function attached(variables: Variables, report: Report): Part[] {
  const list = variables['AGENT_ATTACHMENTS']
  if (list) {
    if (Array.isArray(parse(list))) return elements(list).flatMap((one) => listed(one, report))
    report(unparsed('part.file', 'AGENT_ATTACHMENTS'))
  }
  const parts: Part[] = []
  if (variables['AGENT_IMAGE_URL']) parts.push({ type: 'image', url: variables['AGENT_IMAGE_URL'] })
  if (variables['AGENT_FILE_URL']) parts.push({ type: 'file', url: variables['AGENT_FILE_URL'] })
  return parts
}

function listed(json: string, report: Report): Part[] {
  const { success, output } = v.safeParse(attachmentSchema, parse(json))
  if (!success) {
    report(unparsed('part.file', 'AGENT_ATTACHMENTS'))
    return []
  }
  const { type, url, name, ...rest } = output
  for (const field of Object.keys(rest)) report(dropped('ext', field))
  const blob = name === '' ? { url } : { url, name }
  return [type === 'video' ? { type: 'file', mime: ANY_VIDEO, ...blob } : { type, ...blob }]
}

/** The conversation: an empty session id asks for a new one. */
export function sessionOf(variables: Variables): SessionRef {
  const id = variables['AGENT_SESSION_ID']
  const name = variables['AGENT_SESSION_NAME']
  return { ...(id && { id: fromWireSession(id) }), ...(name && { name }) }
}

/** The variables without a place in the model as one JSON object; undefined when none has a value. */
export function unplaced(variables: Variables): string | undefined {
  const left = Object.entries(variables).filter(([name, value]) => !UNPLACED.has(name) && value)
  return left.length === 0 ? undefined : object(left.map(([name, value]) => [name, quote(value!)] as const))
}
