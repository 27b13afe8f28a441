import { isRecord } from '../model/index.ts'

const TYPES: ReadonlySet<unknown> = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])

/**
 * True for a value that can be the JSON Schema of a tool's arguments or of an answer: an object, whose `type` names
 * types of JSON, in either case. Its other keywords are for the agent to check.
 */
export function isJsonSchema(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false
  const { type } = value
  if (type === undefined) return true
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  return types.every((one) => typeof one === 'string' && TYPES.has(one.toLowerCase()))
}
