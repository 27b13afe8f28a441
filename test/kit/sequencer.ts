import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest, the longest first. */
export const LONGEST: readonly string[] = [
  'test/hostile/replicas.test.ts',
  'test/hostile/endings.test.ts',
  'test/store/postgres.test.ts',
  'test/bench/lines.test.ts',
  'test/programs/qwen-agent.test.ts',
  'test/command/conformance-agents.test.ts',
  'test/command/conformance-clients.test.ts',
  'test/hostile/odd-agents.test.ts',
  'test/fuzz/odd-values.test.ts',
  'test/routes/failures.test.ts',
  'test/hostile/record-steps.test.ts',
  'test/command/conformance.test.ts',
  'test/command/stand-ins.test.ts',
  'test/command/package.test.ts',
  'test/hostile/rolling-restart.test.ts',
  'test/hostile/leases.test.ts',
  'test/hostile/replica-death.test.ts',
]

/** The name of the project whose files share processes. */
export const SHARED = 'shared'

/**
 * Begins with the files that take longest, because one that began last would leave the other processors idle. Ends with
 * those that share processes, because only neighbours in the order can do that.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project: { name } }: TestSpecification): number => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`))
      const among = at < 0 ? LONGEST.length : at
      return name === SHARED ? LONGEST.length + 1 + among : among
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}
