import { type Path, valueAt, withValue } from './errors.ts'

/** Something that a schema found wrong. zod and valibot say what they `expected` instead. */
export interface TypeIssue {
  path: Path
  expected?: unknown
}

const WANTED = /\b(?:number|int|boolean)\b/

/**
 * The values with every text that stands where a number or `true` or `false` is wanted read as one: a variable gives
 * text, and only the schema knows what its key takes. A text that is neither stays. The values are not changed.
 */
export function readTexts<T>(values: T, issues: readonly TypeIssue[]): T {
  return issues.reduce((read, { path, expected }) => {
    const value = WANTED.test(String(expected)) ? readText(valueAt(values, path)) : undefined
    return value === undefined ? read : withValue(read, path, value)
  }, values)
}

/** As YAML reads the same text without quotes. */
function readText(text: unknown): number | boolean | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return typeof text === 'string' && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined
}
