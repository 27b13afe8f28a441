import { type Path, valueAt, withValue } from './errors.ts'

/** An issue of a schema. zod and valibot name the `expected` type. */
export interface TypeIssue {
  path: Path
  expected?: unknown
}

const WANTED = /\b(?:number|int|boolean)\b/

/**
 * A copy of the values in which texts are converted to numbers or booleans where the schema expects those: a variable
 * gives text, and only the schema knows the type of its key. Other texts stay.
 */
export function readTexts<T>(values: T, issues: readonly TypeIssue[]): T {
  return issues.reduce((read, { path, expected }) => {
    const value = WANTED.test(String(expected)) ? readText(valueAt(values, path)) : undefined
    return value === undefined ? read : withValue(read, path, value)
  }, values)
}

/** The value that YAML gives for the text without quotes. */
function readText(text: unknown): number | boolean | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return typeof text === 'string' && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined
}
