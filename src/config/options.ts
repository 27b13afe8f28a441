import type { StandardSchemaV1 } from '../contract/index.ts'
import { type Path, valueAt } from './errors.ts'
import type { Profile } from './profile.ts'
import type { Protocol } from './protocol.ts'
import { readTexts } from './readings.ts'
import type { Source } from './source.ts'

/**
 * Validates the agent's own keys, from the file at `path` or from its profile, by the codec's schema. Problems are
 * reported at the written key; the result is then undefined.
 */
export function resolveOptions(
  source: Source,
  path: Path,
  written: Record<string, unknown>,
  { name, codec }: Protocol,
  profile: Profile | undefined,
): unknown {
  let values = written
  let result = validate(name, codec.options.schema, values)
  if (result.issues) {
    values = readTexts(values, result.issues.map(placed))
    result = validate(name, codec.options.schema, values)
  }
  if (!result.issues) return result.value
  for (const { path: inner, message } of result.issues.map(placed)) {
    const text = hideValue(message, valueAt(written, inner), valueAt(values, inner))
    if (profile && inner.length > 0 && !source.has([...path, inner[0]!])) {
      profile.source.report([...profile.root, ...inner], text)
      source.problems.push(profile.source.problems.at(-1)!)
    } else {
      source.report([...path, ...inner], text)
    }
  }
  return undefined
}

type Result = Exclude<ReturnType<StandardSchemaV1<unknown>['~standard']['validate']>, Promise<unknown>>
type Issue = NonNullable<Result['issues']>[number]

function validate(name: string, schema: StandardSchemaV1<unknown>, values: unknown): Result {
  const result = schema['~standard'].validate(values)
  if (result instanceof Promise) throw new TypeError(`The options schema of the codec ${name} must be synchronous.`)
  return result
}

/** An issue with its path as plain steps. */
function placed({ path = [], ...issue }: Issue): Omit<Issue, 'path'> & { path: Path } {
  return { ...issue, path: path.map((step) => (typeof step === 'object' ? step.key : step) as string | number) }
}

/**
 * Removes quoted values from a schema's message, which may be secrets in the wrong place. `read` is the validated text.
 */
function hideValue(message: string, text: unknown, read: unknown): string {
  if (typeof text !== 'string') return message
  if (read !== text) return message.replace(/\breceived \S+$/, 'received another value')
  return message.replaceAll(`"${text}"`, 'another text')
}
