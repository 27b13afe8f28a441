import { isLinesType, scalarText } from '../../../src/codec-kit/index.ts'
import type { FrontContext } from '../../../src/contract/index.ts'
import { isRecord } from '../../../src/model/index.ts'
import { NEW_SESSION } from '../wire.ts'
import { beyondVersion, formatOf } from './args.ts'
import type { Client } from './client.ts'
import type { Place } from './lines.ts'

/**
 * The message about what this wire lacks of what a request needs, by its `protocol_version` and more of the kind in its
 * `metadata`; undefined when it has all of it. The first request that names an output format settles it.
 */
export function beyondThis(value: Record<string, unknown>, client: Client): string | undefined {
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {}
  const { output_format: asked, capabilities } = metadata
  const streams = value['stream'] === true && client.transport !== 'stdio'
  client.wished ??= formatOf(asked) ?? (streams ? 'stream-chunk-json' : undefined)
  const version = value['protocol_version'] ?? metadata['protocol_version']
  const beyond = version == null ? undefined : beyondVersion(scalarText(version))
  if (beyond !== undefined) return beyond
  const { output } = client.formats
  if (asked !== undefined && asked !== output) {
    return `The output format of this wire is ${output}: ask for another one when you open it.`
  }
  const needed: readonly unknown[] = Array.isArray(capabilities) ? capabilities : []
  const missing = needed.some((name) => !client.abilities.includes(scalarText(name)))
  return missing ? `The capabilities of this wire are ${client.abilities.join(', ')}.` : undefined
}

/** True when a request's body is text. */
export function isText({ headers }: FrontContext): boolean {
  return /^\s*text\/plain\s*(;|$)/i.test(headers['content-type'] ?? '')
}

/** True when a request's body can be read: lines of JSON, which a browser's form cannot send unasked, or text. */
export function isTaken(context: FrontContext): boolean {
  return isText(context) || isLinesType(context.headers['content-type'])
}

/** The session that a line names, and its prompt; undefined for a line without a session, or with a new one. */
export function placeOf({ session_id: session, prompt_id: prompt }: Record<string, unknown>): Place | undefined {
  if (typeof session !== 'string' || session === '' || session === NEW_SESSION) return undefined
  return { session, prompt: typeof prompt === 'string' && prompt !== '' ? prompt : undefined }
}
