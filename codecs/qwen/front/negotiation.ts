import { scalarText } from '../../../src/codec-kit/index.ts'
import type { FrontContext } from '../../../src/contract/index.ts'
import { isRecord } from '../../../src/model/index.ts'
import { type Format, NEW_SESSION } from '../wire.ts'
import { beyondVersion, formatOf } from './args.ts'
import type { Greeting, Place } from './lines.ts'

/** The version and capabilities that a request needs. */
export interface Ask {
  version: unknown
  output: Format | undefined
  /** An output format that is not known. */
  unknownOutput: boolean
  capabilities: readonly unknown[]
}

/** Reads the needs of a request: `protocol_version`, and more of the kind in `metadata`. */
export function readAsk(value: Record<string, unknown>): Ask {
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {}
  const output = metadata['output_format']
  const asked = metadata['capabilities']
  return {
    version: value['protocol_version'] ?? metadata['protocol_version'],
    output: formatOf(output),
    unknownOutput: output !== undefined && formatOf(output) === undefined,
    capabilities: Array.isArray(asked) ? asked : [],
  }
}

/** The message about what this wire lacks; undefined when it has all that a request needs. */
export function beyondThis(
  { version, output, unknownOutput, capabilities }: Ask,
  greeting: Greeting,
): string | undefined {
  const beyond = version == null ? undefined : beyondVersion(scalarText(version))
  if (beyond !== undefined) return beyond
  if (unknownOutput || (output !== undefined && output !== greeting.output)) {
    return `The output format of this wire is ${greeting.output}: ask for another one when you open it.`
  }
  const missing = capabilities.some((name) => !greeting.abilities.includes(scalarText(name)))
  return missing ? `The capabilities of this wire are ${greeting.abilities.join(', ')}.` : undefined
}

/** Media types of lines of JSON and of text; a browser's form cannot send the first ones unasked. */
const MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
  'application/json',
  'text/plain',
])

/** The media type of a request's body; absent is lines of JSON. */
export function mediaType({ headers }: FrontContext): string {
  return (headers['content-type'] || 'application/x-ndjson').split(';')[0]!.trim().toLowerCase()
}

/** True when a request's body can be read. */
export function isTaken(context: FrontContext): boolean {
  return MEDIA_TYPES.has(mediaType(context))
}

/** The session that a line names, and its prompt; undefined for a line without a session, or with a new one. */
export function placeOf({ session_id: session, prompt_id: prompt }: Record<string, unknown>): Place | undefined {
  if (typeof session !== 'string' || session === '' || session === NEW_SESSION) return undefined
  return { session, prompt: typeof prompt === 'string' && prompt !== '' ? prompt : undefined }
}
