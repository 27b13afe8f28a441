import { type Ext, object, rest } from '../../../src/model/index.ts'
import { heldByPart } from '../attachments.ts'
import { KNOWN, type RequestMessage } from '../schema.ts'
import { APPROVAL_EXTENSION, at, entriesExt, otherMembers, type Raw, unlessEmpty } from '../wire.ts'

const LOCALE = new Set(['locale'])
const APPROVAL = new Set([APPROVAL_EXTENSION])

/** The objects of a request as they came. */
export interface RawRequest {
  top: Raw
  request: Raw
  context: Raw
}

/** The capabilities that a shell asks for: named, and neither false nor null. An empty name cannot be answered. */
export function askedCapabilities(capabilities: Record<string, unknown>): string[] {
  return Object.entries(capabilities)
    .filter(([name, value]) => name !== '' && value !== false && value !== null)
    .map(([name]) => name)
}

/**
 * The members of a request beyond the model, in the shape of the request itself, so that an engine behind the gateway gets
 * it back: routing hints, shell identity, extensions, unknown fields, and the raw form of what the model holds only in
 * part. `auth` stays here: it is for the gateway. `answered` means that its continuation was ours.
 */
export function requestExt(raw: RawRequest, message: RequestMessage, answered: boolean): Ext | undefined {
  const { capabilities, request } = message
  const attachments = request.context?.attachments ?? []
  const context = object(
    {
      task_hint: unlessEmpty(at(raw.context, 'task_hint')),
      continuation: answered ? undefined : unlessEmpty(at(raw.context, 'continuation')),
      attachments: attachments.every(heldByPart) ? undefined : at(raw.context, 'attachments'),
      shell: rest(at(raw.context, 'shell') ?? '', LOCALE),
      extensions: rest(at(raw.context, 'extensions') ?? '', answered ? APPROVAL : new Set()),
    },
    otherMembers(raw.context, KNOWN.context),
  )
  const inner = object(
    { extensions: unlessEmpty(at(raw.request, 'extensions')), context: unlessEmpty(context) },
    otherMembers(raw.request, KNOWN.request),
  )
  const plain = Object.values(capabilities ?? {}).every((value) => value === true)
  return entriesExt(
    {
      correlation_id: message.correlation_id === undefined ? undefined : at(raw.top, 'correlation_id'),
      capabilities: plain ? undefined : at(raw.top, 'capabilities'),
      request: unlessEmpty(inner),
    },
    otherMembers(raw.top, KNOWN.top),
  )
}
