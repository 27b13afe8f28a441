import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    // As many as there are processors: most of the time tests wait for processes, and one fewer would leave one idle.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
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
      exclude: ['test/**'],
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
