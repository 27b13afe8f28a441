import type { Path } from './errors.ts'
import type { Profile } from './profile.ts'
import type { Source } from './source.ts'

/**
 * The codec expands `${VAR}` in the environment of a profile. A value of the entry is already expanded; if it contains
 * a reference itself, that would be expanded too.
 */
export function refuseNestedReferences(source: Source, path: Path, profile: Profile | undefined): void {
  const env = [...path, 'env']
  if (!profile || !source.has(env)) return
  for (const { name } of source.insertedAt(env).filter(({ value }) => value.includes('${'))) {
    const hint = 'remove it and let the process inherit the variable'
    source.report(env, `the value of ${name} holds "\${", which would be expanded again with the profile`, hint)
  }
}
