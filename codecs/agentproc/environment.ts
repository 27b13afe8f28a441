import type { BackContext } from '../../src/contract/index.ts'
import type { AgentProcOptions } from './options.ts'
import { expand, type Placeholders, substitute } from './substitute.ts'

type Context = BackContext<AgentProcOptions>

/** The gateway's own variables that the profile allows; its AGENT_ variables belong to another turn. */
export function inherited({ options, env }: Context): Record<string, string> {
  const names = (options.env_allowlist ?? []).filter((name) => !name.startsWith('AGENT_'))
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(env, name) ? [[name, env[name]!]] : [])))
}

/** The profile's own environment. `${VAR}` first, then the placeholders, so that a message is never read for either. */
export function configured({ options, env, process }: Context, values: Placeholders): Record<string, string> {
  const filled = Object.entries(process?.env ?? {}).map(([name, template]) => {
    const expanded = options.expand ? expand(template, env, options.env_allowlist) : template
    return [name, substitute(expanded, values)] as const
  })
  return Object.fromEntries(filled)
}

/** The values that a quoted stderr must not show: those that the configuration put into a child's environment. */
export function secretsOf({ process, options }: Context, env: Readonly<Record<string, string>>): string[] {
  const names = [...Object.keys(process?.env ?? {}), ...(options.env_allowlist ?? [])]
  return names.flatMap((name) => env[name] ?? [])
}
