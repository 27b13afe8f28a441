import type { Expansion } from './expand.ts'
import type { AgentConfig, Config } from './types.ts'

/** Shorter values (a port, `true`) are no secrets, and would be found in every text. */
const SHORTEST_SECRET = 6

/**
 * A function that replaces the values by `${NAME}` of their variables wherever they are in a text. A value that is one of
 * the `words` of all messages, such as a protocol, is no secret, unless it is a client's key.
 */
export function createRedactor(
  inserted: Expansion['inserted'],
  words: ReadonlySet<string>,
  keys: Expansion['inserted'],
): (text: string) => string {
  const secrets = [...inserted.filter(({ value }) => !words.has(value)), ...keys]
  const names = new Map(secrets.map(({ name, value }) => [value, name]))
  // The longest first, so that one which holds another is not left in pieces.
  const values = [...names.keys()].filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length)
  if (values.length === 0) return (text) => text
  const pattern = new RegExp(values.map((value) => escapeForPattern(value)).join('|'), 'g')
  return (text) => text.replace(pattern, (value) => `\${${names.get(value)}}`)
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Names of options, variables and headers whose values are secrets. */
export const SECRET_NAME = /token|secret|passw|credential|authorization|cookie|(^|[-_.])key$|apikey|bearer/i

/** The secret in the argument at `index`: all of it behind `--token`, what follows the sign in `--token=X`. */
export function argumentSecret(args: readonly string[], index: number): string | undefined {
  const before = args[index - 1] ?? ''
  if (before.startsWith('-') && !before.includes('=') && SECRET_NAME.test(before)) return args[index]!
  const [flag, ...value] = args[index]!.split('=') as [string, ...string[]]
  return value.length > 0 && SECRET_NAME.test(flag) ? value.join('=') : undefined
}

/** A value of a variable that is not named like a secret may be one all the same, but a short one is a word. */
const SHORTEST_VALUE = 8

/**
 * Replaces, in what an agent says of its failures, the secrets that the configuration gave it: those from the
 * environment by their variables' names, those written in the file by `***`. All that stands in `env` counts as secret.
 */
export function agentRedactor(config: Config, agent: AgentConfig): (text: string) => string {
  const { args = [], env, headers = {} } = agent
  const named = Object.entries({ ...env, ...headers }).filter(
    ([name, value]) => SECRET_NAME.test(name) || (Object.hasOwn(env, name) && value.length >= SHORTEST_VALUE),
  )
  const values = [
    ...args.flatMap((_, index) => argumentSecret(args, index) ?? []),
    ...named.map(([, value]) => value.replace(/^(bearer|basic) +/i, '')),
  ]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
  return (text) => values.reduce((clean, value) => clean.replaceAll(value, '***'), config.redact(text))
}
