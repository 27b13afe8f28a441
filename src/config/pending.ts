import type { AgentConfig, Route } from './types.ts'

/** A warning for every setting that is read and checked, but that the gateway does not act upon yet. */
export function pendingWarnings(agents: Iterable<AgentConfig>, routes: readonly Route[]): string[] {
  const pending: string[] = []
  for (const { name, restore } of agents) {
    if (restore === 'replay')
      pending.push(`agents.${name}.restore: replay is not acted upon yet; it begins anew, like fresh`)
  }
  for (const [index, { fallback, loss }] of routes.entries()) {
    if (fallback.length > 0)
      pending.push(`routes[${index}].fallback is not acted upon yet; only the agent itself is tried`)
    if (loss === 'strict') pending.push(`routes[${index}].loss: strict is not acted upon yet; losses are reported`)
  }
  return pending
}
