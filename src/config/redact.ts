import type { Expansion } from './expand.ts'

/** Shorter values (a port, `true`) are no secrets, and would be found in every text. */
const SHORTEST_SECRET = 6

/** A function that replaces the values by `${NAME}` of their variables wherever they are in a text. */
export function createRedactor(inserted: Expansion['inserted']): (text: string) => string {
  const names = new Map(inserted.map(({ name, value }) => [value, name]))
  // The longest first, so that one which holds another is not left in pieces.
  const values = [...names.keys()].filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length)
  if (values.length === 0) return (text) => text
  const pattern = new RegExp(values.map((value) => escapeForPattern(value)).join('|'), 'g')
  return (text) => text.replace(pattern, (value) => `\${${names.get(value)}}`)
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
