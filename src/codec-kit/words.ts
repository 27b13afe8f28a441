/**
 * A value of a message as a word. Objects and lists are none: a JSON object may have a member `toString`, so that it
 * cannot be made a text, and lists may be nested too deep for it.
 */
export function wordOf(value: unknown): string {
  return typeof value === 'object' ? '' : String(value)
}
