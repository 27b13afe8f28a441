import type { Limits, ProfileFormat } from '../../src/contract/index.ts'

/** Profiles (AgentProc, "Profile YAML"). */
export const profile: ProfileFormat = {
  root: 'agentproc',
  driven: {
    executor: {
      problem: 'names a driver inside another runner, which cannot be started as a process',
      hint: "set command to the bridge script that the executor's publisher gives",
    },
  },
  limits: limitsOf,
  // Profiles are written for runners that pass on their whole environment.
  inherits: (written) => (Array.isArray(written['env_allowlist']) ? [] : ['*']),
}

/** `timeout_secs` (0 is no limit) and `kill_grace_secs`, where they are written. */
function limitsOf(written: Readonly<Record<string, unknown>>, options: unknown): Partial<Limits> {
  const { timeout_secs: timeout, kill_grace_secs: grace } = (options ?? {}) as Record<string, unknown>
  const limits: Partial<Limits> = {}
  if ('timeout_secs' in written && typeof timeout === 'number') limits.total = timeout === 0 ? Infinity : timeout * 1000
  if ('kill_grace_secs' in written && typeof grace === 'number') limits.grace = grace * 1000
  return limits
}
