import { messageLine, unknownMembers, wordTable } from '../../../src/codec-kit/index.ts'
import { type Ext, isRecord, type JsonText, parse } from '../../../src/model/index.ts'
import { toExt } from '../wire.ts'
import type { Request } from './lines.ts'

/** A line of the client that names a command, parsed and raw. */
export interface Line extends Request {
  value: Record<string, unknown>
  json: JsonText
}

/** The fields of the commands that have more than these two. */
const BARE: ReadonlySet<string> = new Set(['type', 'id'])
const KNOWN = wordTable<ReadonlySet<string>>({
  prompt: new Set(['type', 'id', 'message', 'images']),
  set_model: new Set(['type', 'id', 'model']),
})

/** Reads a line, or gives the reason why it is no command at all. A field that is null counts as absent. */
export function readLine(json: JsonText): Line | string {
  const value = parse(json)
  if (value === undefined) return 'the line is not JSON'
  if (!isRecord(value)) return 'the line is not a JSON object'
  const command = value['type'] ?? ''
  const id = value['id'] ?? ''
  if (typeof command !== 'string') return 'type is not a string'
  if (typeof id !== 'string') return 'id is not a string'
  return { command, id: id || undefined, value, json }
}

/** Unknown fields of a command, and its `images` when parts cannot say them. */
export function commandExt({ command, value, json }: Line, images?: JsonText): Ext | undefined {
  const known = KNOWN.get(command) ?? BARE
  const unknown = unknownMembers(json, value, known)
  return toExt(images === undefined ? unknown : messageLine({ images }, unknown))
}
