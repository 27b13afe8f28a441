import * as v from 'valibot'
import { isRecord } from '../model/index.ts'
import { isJsonSchema } from './json-schema.ts'
import { looseObject } from './loose-object.ts'

/** The kinds of a request's members, each with the message for a member of another kind. */
export const text = v.string('must be a string')
export const number = v.pipe(v.number('must be a number'), v.finite('must be a finite number'))
export const count = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be positive'),
)
export const flag = v.boolean('must be true or false')
export const whole = v.pipe(v.number('must be a number'), v.integer('must be a whole number'))
export const texts = v.array(text, 'must be an array of strings')
export const objects = v.array(v.custom<object>(isRecord, 'must be an object'), 'must be an array')

/** An object with these members, and any others. */
export function record<const E extends v.ObjectEntries>(entries: E, wrong = 'must be an object') {
  return withoutLists(looseObject(entries, wrong), wrong)
}

/** An object with members of any names, all of one kind. */
export function namedValues<const S extends v.GenericSchema>(kind: S, wrong = 'must be an object') {
  return withoutLists(v.objectWithRest({}, kind, wrong), wrong)
}

/** The schema of an object, which takes no list: a list is an object for valibot. */
function withoutLists<const S extends v.GenericSchema>(schema: S, wrong: string): S {
  const none = v.never(wrong)
  const run: S['~run'] = (dataset, config) => (Array.isArray(dataset.value) ? none : schema)['~run'](dataset, config)
  return { ...schema, '~run': run }
}

/** A member that may be absent; null counts as absent. */
export function maybe<const S extends v.GenericSchema>(schema: S) {
  return v.nullish(schema)
}

/** The JSON Schema of a tool's arguments or of an answer. */
export const jsonSchema = v.custom<Record<string, unknown>>(isJsonSchema, 'must be a JSON Schema')

/** The form of an answer. One of the type `json_schema` has its schema in the member `key`, as `schema` reads it. */
export function answerFormat<const S extends v.GenericSchema>(key: string, schema: S) {
  const plain = record({ type: text })
  const withSchema = record({ type: text, [key]: schema })
  return v.lazy((given) => (isRecord(given) && given['type'] === 'json_schema' ? withSchema : plain))
}

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
