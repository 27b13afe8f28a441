/**
 * The text of a scalar in a message; empty for objects and arrays. A JSON object may have a member `toString`, so that
 * it cannot be converted, and arrays may be nested too deep to convert.
 */
export function scalarText(value: unknown): string {
  return typeof value === 'object' ? '' : String(value)
}
