/** The variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The result of expanding a text. */
export interface Expansion {
  text: string
  /** The variables whose values were inserted. */
  inserted: { name: string; value: string }[]
  /** Variables that are not set and have no default. */
  unknown: string[]
  /** True when a `${` does not begin a reference. */
  malformed: boolean
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g

/**
 * Replaces `${NAME}` by the variable and `${NAME:-default}` by the variable or, when it is unset or empty, the default;
 * `$${` stands for `${`. One pass: inserted values are not expanded again.
 */
export function expand(text: string, env: Environment): Expansion {
  const expansion: Expansion = { text, inserted: [], unknown: [], malformed: false }
  expansion.text = text.replace(REFERENCE, (found: string, name: string | undefined, fallback: string | undefined) => {
    if (found === '$${') return '${'
    if (name === undefined) {
      expansion.malformed = true
      return found
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (fallback !== undefined && (value === undefined || value === '')) return fallback
    if (value === undefined) {
      expansion.unknown.push(name)
      return ''
    }
    expansion.inserted.push({ name, value })
    return value
  })
  return expansion
}
