import * as v from 'valibot'
import { isJsonSchema } from './json-schema.ts'

/** The kinds of a request's members, each with what is wrong when it is another one. */
export const text = v.string('must be a string')
export const number = v.pipe(v.number('must be a number'), v.finite('must be a finite number'))
export const count = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be positive'),
)
export const flag = v.boolean('must be true or false')

/** A member that may be absent; null counts as absent. */
export function maybe<const S extends v.GenericSchema>(schema: S) {
  return v.nullish(schema)
}

/** The JSON Schema of a tool's arguments or of an answer. */
export const jsonSchema = v.custom<Record<string, unknown>>(isJsonSchema, 'must be a JSON Schema')

/** A member of a request that is not as it must be. `param` is its path, such as `messages[0].role`. */
export interface WrongMember {
  param: string
  wrong: string
}

/** The member that a schema of a request has found wrong. */
export function wrongMember(issue: v.BaseIssue<unknown>): WrongMember {
  const param = v.getDotPath(issue)!.replace(/\.(\d+)/g, '[$1]')
  return { param, wrong: issue.received === 'undefined' ? 'is missing' : issue.message }
}
