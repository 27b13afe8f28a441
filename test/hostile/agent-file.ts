import { join } from 'node:path'

/** `agent.mjs` in one file, which `test/kit/build.ts` makes: tests start it thousands of times, and modules take time. */
export const HOSTILE_AGENT = join(import.meta.dirname, '../../node_modules/.cache/turnpike-tests/hostile-agent.cjs')
