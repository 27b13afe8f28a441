import { isUncounted, type Report, readCounts } from '../../src/codec-kit/index.ts'
import { addUsage, type Usage } from '../../src/model/index.ts'

/** The names of counts on this wire, in its order. */
export const COUNTS = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  total: 'total_tokens',
} as const
const KEYS = Object.keys(COUNTS) as (keyof typeof COUNTS)[]

/** The tokens of a message or result; undefined when all are zero, which is how the CLI says that it does not know. */
export function usageOf(fields: unknown, report: Report): Usage | undefined {
  const usage = readCounts(fields, COUNTS, report)
  return isUncounted(usage) ? undefined : usage
}

/**
 * Turns the CLI's usage, which counts up over the session and over resumptions of it, into that of single turns: the
 * difference of two results where the one before is known, else the sum of the model calls that were shown, which leaves
 * out side calls.
 */
export class UsageMeter {
  #base: Usage | undefined
  #sum: Usage | undefined

  /** A process begins; `fresh` means that its session has no past. */
  reset(fresh: boolean): void {
    this.#base = fresh ? {} : undefined
    this.#sum = undefined
  }

  /** A turn begins. */
  begin(): void {
    this.#sum = undefined
  }

  /** A model call of the turn was counted. */
  add(call: Usage): void {
    this.#sum = addUsage(this.#sum ?? {}, call)
  }

  /** The turn ends with the session's count so far; gives the turn's own. */
  end(session: Usage | undefined): Usage | undefined {
    const base = this.#base
    if (session) this.#base = session
    const grown = session && base && difference(session, base)
    if (grown) return isUncounted(grown) ? undefined : grown
    return this.#sum
  }

  /** The sum of the model calls that were shown. */
  get sum(): Usage | undefined {
    return this.#sum
  }
}

/** The counts since `base`; undefined when counting was reset in between. */
function difference(session: Usage, base: Usage): Usage | undefined {
  const grown: Usage = {}
  for (const key of KEYS) {
    const count = session[key]
    if (count === undefined) continue
    grown[key] = count - (base[key] ?? 0)
    if (grown[key] < 0) return undefined
  }
  return grown
}
