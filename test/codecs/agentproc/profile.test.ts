import { expect, test } from 'vitest'
import { profile } from '../../../codecs/agentproc/profile.ts'

test.each([
  [{}, {}, {}],
  [{ timeout_secs: 2.5 }, { timeout_secs: 2.5 }, { total: 2500 }],
  [
    { timeout_secs: 0, kill_grace_secs: 0 },
    { timeout_secs: 0, kill_grace_secs: 0 },
    { total: Infinity, grace: 0 },
  ],
  // The defaults of the schema are limits of the gateway's own where the profile says nothing.
  [{}, { timeout_secs: 1800, kill_grace_secs: 5 }, {}],
  // What the schema refused is told elsewhere.
  [{ timeout_secs: 'x', kill_grace_secs: 'x' }, undefined, {}],
])('the limits of %o', (written, options, limits) => {
  expect(profile.limits(written, options)).toEqual(limits)
})

test('a profile without an allowlist inherits everything', () => {
  expect(profile.inherits({})).toEqual(['*'])
  expect(profile.inherits({ env_allowlist: ['HOME'] })).toEqual([])
})
