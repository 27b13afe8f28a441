import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import type { JsonSchema, Operation, OperationAnswer } from '../contract/index.ts'

/** The options of a conversion: values as they are sent, and any JSON in place of what JSON Schema has no word for. */
const OPTIONS = { typeMode: 'input', errorMode: 'ignore' } as const

/** A valibot schema, as far as it is looked at here. */
interface Valibot {
  type: string
  literal?: unknown
}

/** A member that can only be true: generators of Python make wrong code of that constant. */
function flagOf({ type, literal }: Valibot): JsonSchema | undefined {
  return type === 'literal' && literal === true ? { type: 'boolean' } : undefined
}

/** The JSON Schema of a valibot schema, with any JSON where the schema depends on the value. */
export function jsonSchema(schema: GenericSchema): JsonSchema {
  const overrideSchema = ({ valibotSchema }: { valibotSchema: Valibot }): JsonSchema | undefined =>
    valibotSchema.type === 'lazy' ? {} : flagOf(valibotSchema)
  return linked(toJsonSchema(schema, { ...OPTIONS, overrideSchema }))
}

/**
 * The JSON Schemas of named valibot schemas, which refer to each other by name. The `raw` one is a text in the model and
 * any JSON on the wire.
 */
export function namedSchemas<const N extends string>(
  named: Readonly<Record<N, GenericSchema>>,
  raw: GenericSchema,
): Readonly<Record<N, JsonSchema>> {
  const overrideSchema = ({ valibotSchema }: { valibotSchema: Valibot }): JsonSchema | undefined =>
    valibotSchema === raw ? {} : flagOf(valibotSchema)
  const all = toJsonSchemaDefs(named, { ...OPTIONS, overrideSchema })
  return Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, linked(schema as object)])) as Record<
    N,
    JsonSchema
  >
}

/** A reference to a named schema. */
export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** A JSON body of this schema. */
export function json(schema: JsonSchema, example?: unknown): NonNullable<Operation['request']> {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}

/** An answer with a JSON body. */
export function answer(description: string, schema: JsonSchema): OperationAnswer {
  return { description, bodies: json(schema) }
}

/** The description of an answer with such a status, in any protocol. */
const FAILURES = {
  400: 'The request is invalid; the message names the member.',
  401: 'A key is missing, or is none of the gateway.',
  403: 'The key may not do this, or not use this agent.',
  404: 'There is no such agent, session or turn that the key may see.',
  409: 'The session is busy.',
  413: 'The request is too large.',
  415: 'The body is not sent as JSON.',
  422: 'The request conflicts with an earlier one, or would lose what the route keeps.',
  429: 'Too much at once, for the key, the agent or its provider; `Retry-After` says when to try again.',
  499: 'The turn was cancelled.',
  500: 'The gateway failed.',
  502: 'The agent or its provider failed.',
  503: 'The agent, its provider or the store cannot be used now.',
  504: 'A limit of time was reached.',
} as const

/** A status of an answer that reports a failure. */
export type FailureStatus = keyof typeof FAILURES

/** The answers that report a failure: those with these statuses, and any other one. */
export function failures(schema: JsonSchema, ...statuses: readonly FailureStatus[]): Operation['answers'] {
  const named = statuses.map((status) => [status, answer(FAILURES[status], schema)])
  return { ...Object.fromEntries(named), default: answer('Another failure.', schema) }
}

/** An object with these members, of which those are always there. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

/** A list of things. */
export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
}

/**
 * Named schemas are components of the document that they are in; those without a name are written where they are used.
 * Values for absent members are left out: generators take members with one for members that are always there.
 */
function linked(schema: object): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')
  const {
    $schema: _,
    $defs,
    ...rest
  } = JSON.parse(text, (key, value: unknown) =>
    key === 'default' && !isSchema(value) ? undefined : simpler(value),
  ) as Record<string, unknown>
  return rest
}

/** A schema without a choice that any JSON fits. */
function simpler(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value) || !Array.isArray(value.anyOf)) return value
  const { anyOf, ...rest } = value
  return anyOf.some((one) => Object.keys(one).length === 0) ? rest : value
}

/** True for the schema of a member that is called so. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('type' in value || 'anyOf' in value || '$ref' in value)
}

/** A body in lines of JSON, each of this schema. The example is one of them. */
export function jsonLines(schema: JsonSchema, example?: object): NonNullable<Operation['request']> {
  return { 'application/x-ndjson': { schema, ...(example !== undefined && { example }) } }
}

/** Any object of JSON. */
export const ANY_OBJECT: JsonSchema = { type: 'object' }

/** The answers that report a failure in the form of a protocol of others. */
export const REFUSALS: Operation['answers'] = failures(ANY_OBJECT, 400, 401, 403, 404, 413, 429)

/** The answers of an endpoint that answers in one piece, in a stream of events, or with an object that reports a failure. */
export function wholeOrStreamed(whole: JsonSchema = ANY_OBJECT): Operation['answers'] {
  return {
    200: {
      description: 'The whole answer, or a stream of it.',
      bodies: { 'application/json': { schema: whole }, 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...REFUSALS,
  }
}

/** The answers of an endpoint that answers in lines. */
export const ANSWER_LINES: Operation['answers'] = {
  200: { description: 'The answer, as lines.', bodies: jsonLines(ANY_OBJECT) },
  ...REFUSALS,
}

/** The same endpoints under further beginnings of their paths; their names get that word. */
export function alsoUnder(
  operations: Readonly<Record<string, Operation>>,
  base: string,
  word: string,
): Readonly<Record<string, Operation>> {
  const moved = Object.entries(operations).map(([endpoint, operation]): [string, Operation] => [
    endpoint.replace(' /', ` ${base}/`),
    { ...operation, id: `${operation.id}${word}` },
  ])
  return { ...operations, ...Object.fromEntries(moved) }
}
