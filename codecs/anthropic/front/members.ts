import * as v from 'valibot'
import { isJsonSchema } from '../../../src/codec-kit/index.ts'

/** A string. */
export const text = v.string('must be a string')
/** The JSON Schema of arguments or of an answer. */
export const jsonSchema = v.custom<Record<string, unknown>>(isJsonSchema, 'must be a JSON Schema')

/** A member that may be absent; null counts as absent. */
export function maybe<const S extends v.GenericSchema>(schema: S) {
  return v.nullish(schema)
}
