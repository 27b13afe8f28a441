import * as v from 'valibot'
import { isJsonSchema } from '../../../src/codec-kit/index.ts'
import type { Fault } from '../../../src/model/index.ts'
import { invalidRequest } from '../errors.ts'

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
export const jsonSchema = v.custom<object>(isJsonSchema, 'must be a JSON Schema')

/** The refusal of the member that is wrong. */
export function wrongMember(issue: v.BaseIssue<unknown>): Fault {
  const path = v.getDotPath(issue)!
  const param = path.replace(/\.(\d+)/g, '[$1]')
  const why = issue.received === 'undefined' ? 'is missing' : issue.message
  return invalidRequest(`${param} ${why}.`, param)
}

/** `coder:gpt-5` is the agent `coder` with the model `gpt-5`. */
export function agentOf(model: string): [agent: string, model: string | undefined] {
  const colon = model.indexOf(':')
  return colon < 0 ? [model, model === '' ? undefined : model] : [model.slice(0, colon), model.slice(colon + 1)]
}
