/** JSON of agents, which is shown and written again: no number in it is rounded on the way. */

/** A member of `JSON` in newer browsers: a value that is written as its source. */
interface ExactJson {
  rawJSON?(source: string): unknown
}

/** Reads JSON. A number that a script would change, such as `2.50` or `1e400`, is kept as it was written. */
export function readJson(text: string): unknown {
  return JSON.parse(text, exact)
}

function exact(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value
  return (JSON as ExactJson).rawJSON?.(source) ?? value
}

/** The value of a JSON text; undefined for a text that is none. */
export function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON of an agent as people read it: it comes as a value, or as a text that is shown as it is. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

/** The value of a JSON text, or the text where it is none. */
export function jsonOf(text: string): unknown {
  return parsed(text) ?? text
}
