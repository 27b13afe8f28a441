import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { POSTGRES_BIN } from './test/kit/postgres.ts'
import { LongestFirst, SHARED } from './test/kit/sequencer.ts'

/** Tests that also run with the gateway's record in PostgreSQL, which answers later than SQLite does. */
const ALSO_ON_POSTGRES = ['controls', 'following', 'parking', 'session-memory'].map(
  (name) => `test/routes/${name}.test.ts`,
)

/** Tests of two gateways in one process: with SQLite one would hold the lock that the other waits for. */
const ONLY_ON_POSTGRES = ['test/routes/key-limits.test.ts']

/** Tests that also run through a replica that has none of the agents, and sends every request on. */
const ALSO_FORWARDED = [
  'controls',
  'early-cancel',
  'following',
  'idempotency',
  'pairs',
  'parking',
  'sessions',
  'streaming',
].map((name) => `test/routes/${name}.test.ts`)

/** Longer ones that do so with `npm run test:forwarded`. */
const FORWARDED_WHEN_ASKED = ['test/hostile/cancel-moments.test.ts', 'test/routes/approvals.test.ts']
const FORWARDED =
  process.env['TURNPIKE_TEST_FORWARDED'] === 'all' ? [...ALSO_FORWARDED, ...FORWARDED_WHEN_ASKED] : ALSO_FORWARDED

/**
 * Tests that leave nothing behind in their process but timers. One process runs many of these files: to load the parts of
 * a gateway for each takes longer than most of them.
 */
const SHARING = [
  'codec-kit',
  'codecs',
  'config',
  'conformance',
  'engine',
  'framing',
  'model',
  'routes',
  'translate',
].map((folder) => `test/${folder}/**/*.test.ts`)

/** The program that many tests start. */
const BUILD = 'test/kit/build.ts'

/** Holds every answer that a test fetches against the description of the API. */
const DESCRIBED = process.env['TURNPIKE_TEST_OPENAPI'] === '1' ? ['test/kit/described-answers.ts'] : []

const everything: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'all',
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...SHARING],
    globalSetup: BUILD,
    setupFiles: DESCRIBED,
  },
}
const shared: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: SHARED,
    include: SHARING,
    exclude: ['**/node_modules/**', ...ONLY_ON_POSTGRES],
    isolate: false,
    globalSetup: BUILD,
    setupFiles: ['test/kit/clean-clock.ts', ...DESCRIBED],
  },
}
const onPostgres: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'postgres',
    include: [...ALSO_ON_POSTGRES, ...ONLY_ON_POSTGRES],
    globalSetup: [BUILD, 'test/kit/on-postgres/server.ts'],
    setupFiles: 'test/kit/on-postgres/worker.ts',
  },
}
const forwarded: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'forwarded',
    include: FORWARDED,
    globalSetup: [BUILD, 'test/kit/on-postgres/server.ts'],
    setupFiles: ['test/kit/on-postgres/worker.ts', 'test/kit/on-postgres/forwarded.ts'],
  },
}

export default defineConfig({
  test: {
    projects: POSTGRES_BIN === undefined ? [everything, shared] : [everything, shared, onPostgres, forwarded],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    // One more than there are processors: much of the time tests wait for processes.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Node.js programs that tests start compile their files once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/turnpike-compiled') },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By itself a second, which a busy machine may need.
    expect: { poll: { timeout: 50_000 } },
    coverage: {
      provider: 'v8',
      include: [
        'codecs/**/*.ts',
        'src/codec-kit/**/*.ts',
        'src/conformance/suites/**/*.ts',
        'src/framing/**/*.ts',
        'src/store/**/*.ts',
        'src/engine/**/*.ts',
      ],
      // Without a server nothing of its driver runs.
      exclude: ['test/**', ...(POSTGRES_BIN === undefined ? ['src/store/postgres/**'] : [])],
      thresholds: {
        'src/engine/**/*.ts': { lines: 97, branches: 91 },
        'codecs/**/*.ts': { lines: 100, branches: 100 },
        'src/codec-kit/**/*.ts': { lines: 100, branches: 100 },
        'src/conformance/suites/**/*.ts': { lines: 100, branches: 100 },
        'src/framing/**/*.ts': { lines: 100, branches: 100 },
        // Its tests alone reach this: the rest is errors of the disk and of other processes.
        'src/store/**/*.ts': { lines: 97, branches: 94 },
      },
    },
  },
})
