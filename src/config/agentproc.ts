import type { Limits } from '../contract/index.ts'
import { MAX_MS } from './duration.ts'
import type { Path } from './errors.ts'
import type { Profile } from './profile.ts'
import type { Source } from './source.ts'

/** The protocol whose agents may be described by a profile. */
export const PROFILE_PROTOCOL = 'agentproc'

/** The protocol's own limits, where `written` has them: `timeout_secs` (0 is none) and `kill_grace_secs`, validated in `options`. */
export function profileLimits(written: Readonly<Record<string, unknown>>, options: unknown): Partial<Limits> {
  const { timeout_secs: timeout, kill_grace_secs: grace } = (options ?? {}) as Record<string, unknown>
  const limits: Partial<Limits> = {}
  if ('timeout_secs' in written && typeof timeout === 'number') limits.total = timeout === 0 ? MAX_MS : toMs(timeout)
  if ('kill_grace_secs' in written && typeof grace === 'number') limits.grace = toMs(grace)
  return limits
}

function toMs(seconds: number): number {
  return Math.min(Math.round(seconds * 1000), MAX_MS)
}

/**
 * What an agent inherits that does not say so itself: nothing beyond the minimal environment, but everything with a
 * profile that has no `env_allowlist`, because profiles are written for runners that pass everything on.
 */
export function profileInherits(
  written: Readonly<Record<string, unknown>>,
  profile: Profile | undefined,
): readonly string[] {
  return profile && !Array.isArray(written['env_allowlist']) ? ['*'] : []
}

/**
 * The codec expands `${VAR}` in the environment of a profile. A value beside the profile is expanded already; one that
 * holds a reference of its own would be read again.
 */
export function refuseNestedReferences(source: Source, path: Path, profile: Profile | undefined): void {
  const env = [...path, 'env']
  if (!profile || !source.has(env)) return
  for (const { name } of source.insertedAt(env).filter(({ value }) => value.includes('${'))) {
    const hint = 'leave it out and let the process inherit the variable'
    source.report(env, `the value of ${name} holds "\${", which would be expanded again with the profile`, hint)
  }
}
