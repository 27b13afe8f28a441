import { isUncounted, type Report, readCounts } from '../../../src/codec-kit/index.ts'
import type { Usage } from '../../../src/model/index.ts'

const NAMES = {
  input: 'input_tokens',
  output: 'output_tokens',
  reasoning: 'reasoning_output_tokens',
  cacheRead: 'cached_input_tokens',
  cacheWrite: 'cache_write_input_tokens',
} as const
const KEYS = Object.keys(NAMES) as (keyof typeof NAMES)[]

/** The tokens of a thread, which each turn that completes counts since the thread began, as those of single turns. */
export class ExecUsage {
  readonly #known = new Map<string, Usage>()

  /**
   * Reads the `usage` of a turn that has ended; `resumed` names the thread that it went on with. The tokens of the turn
   * itself are unknown when those of the turn before are.
   */
  read(
    fields: unknown,
    thread: string,
    resumed: boolean,
    report: Report,
  ): { session: Usage; turn: Usage | undefined } | undefined {
    const session = readCounts(fields, NAMES, report)
    const before = resumed ? this.#known.get(thread) : {}
    this.uncounted()
    if (isUncounted(session)) return undefined
    this.#known.set(thread, session)
    return { session, turn: before && since(before, session) }
  }

  /** A turn has ended without counts: the next ones have its tokens, too. */
  uncounted(): void {
    this.#known.clear()
  }
}

function since(before: Usage, now: Usage): Usage {
  const usage: Usage = {}
  for (const key of KEYS) if (now[key] !== undefined) usage[key] = Math.max(0, now[key] - (before[key] ?? 0))
  return usage
}
