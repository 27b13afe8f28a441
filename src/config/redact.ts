import { secretForms } from '../model/index.ts'
import type { Expansion } from './expand.ts'
import type { AgentConfig, Config } from './types.ts'

/** The shortest value that may be secret: shorter ones (a port, `true`) would occur in every text. */
const SHORTEST_SECRET = 6

/**
 * A function that replaces the values of variables in a text by `${NAME}`, also where they are escaped. A value that is
 * one of the `words` of all messages, such as a protocol, is not replaced, unless it is a client's key.
 */
export function createRedactor(
  inserted: Expansion['inserted'],
  words: ReadonlySet<string>,
  keys: Expansion['inserted'],
): (text: string) => string {
  const secrets = [...inserted.filter(({ value }) => !words.has(value)), ...keys]
  return replacer(new Map(secrets.map(({ name, value }) => [value, `\${${name}}`])))
}

/** A function that replaces secrets in a text, each by its own word. */
function replacer(words: ReadonlyMap<string, string>): (text: string) => string {
  const long = [...words].filter(([{ length }]) => length >= SHORTEST_SECRET)
  const forms = new Map(long.flatMap(([secret, word]) => secretForms(secret).map((form) => [form, word] as const)))
  if (forms.size === 0) return (text) => text
  // Longest first, so that a value that contains another one is replaced as a whole.
  const longestFirst = [...forms.keys()].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map((form) => escapeForPattern(form)).join('|'), 'g')
  return (text) => text.replace(pattern, (form) => forms.get(form)!)
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Names of options, variables and headers whose values are secrets. */
export const SECRET_NAME = /token|secret|passw|credential|authorization|cookie|(^|[-_.])key$|apikey|bearer/i

/** The secret in the argument at `index`: the whole argument after `--token`, or X in `--token=X`. */
export function argumentSecret(args: readonly string[], index: number): string | undefined {
  const before = args[index - 1] ?? ''
  if (before.startsWith('-') && !before.includes('=') && SECRET_NAME.test(before)) return args[index]!
  const [flag, ...value] = args[index]!.split('=') as [string, ...string[]]
  return value.length > 0 && SECRET_NAME.test(flag) ? value.join('=') : undefined
}

/**
 * The shortest value to hide of a variable that is not named like a secret: it may still be one, but a short value is a
 * word.
 */
const SHORTEST_VALUE = 8

/**
 * A function that replaces the configuration's secrets in an agent's messages: those from the environment by their
 * variables' names, those written in the file by `***`. All values of `env` count as secret.
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
  const hide = replacer(new Map(values.map((value) => [value, '***'])))
  return (text) => hide(config.redact(text))
}
