import { dropped, weakened } from '../../../src/codec-kit/index.ts'
import type { JsonText, Loss, TurnOptions, TurnStart } from '../../../src/model/index.ts'
import type { Options } from '../options.ts'
import { ownMember, PROTOCOL } from '../wire.ts'

/** The limit of an answer, in tokens, where neither the client nor the configuration sets one: the API demands it. */
const MAX_TOKENS = 8192

/** The least tokens to think that the API takes. */
const LEAST = 1024
/** The tokens to think for an effort; a higher one than these has the most. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: LEAST, low: 2048, medium: 8192, high: 16_384 }
const MOST = 32_768

/** The least `top_p` of a model that thinks. */
const LEAST_TOP_P = 0.95

/** Efforts of other providers below the lowest one. */
const LOWEST: ReadonlySet<string> = new Set(['none', 'minimal'])

/** The members of a request that depend on the amount of thinking. */
export interface ThinkingMembers {
  maxTokens: number
  thinking?: JsonText
  /** `output_config.effort`. */
  effort?: string | undefined
  temperature?: number | undefined
  topP?: number | undefined
}

type Start = TurnStart & { ext?: { protocol: string; json: JsonText } }
type Report = (loss: Loss) => void

/**
 * The amount of thinking for a turn: from the members of a client of this API, else from the settings and the effort of
 * the turn.
 */
export function thinkingMembers(start: Start, settings: Options, report: Report): ThinkingMembers {
  const { options } = start
  const still = {
    maxTokens: options.maxTokens ?? settings.max_tokens ?? MAX_TOKENS,
    temperature: options.temperature,
    topP: options.topP,
  }
  // For a client of this API the option `effort` is derived from its thinking, so it is not used here.
  if (ownMember(start.ext, 'thinking') !== undefined) return still
  const { thinking } = settings
  if (!thinking) return { ...still, effort: effortOf(options, report) }
  if (options.effort === 'none') return { ...still, thinking: '{"type":"disabled"}' }
  if (!forcesTool(options)) {
    if (thinking.type === 'adaptive') {
      const effort = effortOf(options, report)
      return { ...still, ...sampling(options, report), thinking: JSON.stringify(thinking), effort }
    }
    const budget = budgetOf(start, thinking.budget_tokens, report)
    if (budget !== undefined) {
      // The tokens to think are among those of the answer.
      const maxTokens = options.maxTokens ?? still.maxTokens + budget
      const enabled = JSON.stringify({ ...thinking, budget_tokens: budget })
      return { maxTokens, ...sampling(options, report), thinking: enabled }
    }
  }
  if (options.effort !== undefined) report(weakened('option.effort', undefined, 'too-narrow'))
  return still
}

/** The effort in words of the API. */
function effortOf({ effort }: TurnOptions, report: Report): string | undefined {
  if (effort === undefined || !LOWEST.has(effort)) return effort
  report(weakened('option.effort', undefined, 'too-narrow'))
  return 'low'
}

/** The API refuses to think before a call that it is made to make. */
function forcesTool({ toolChoice }: TurnOptions): boolean {
  return toolChoice === 'required' || typeof toolChoice === 'object'
}

/** The tokens for thinking; undefined where the answer has no room, or continues a thought that is not known. */
function budgetOf(start: Start, usual: number, report: Report): number | undefined {
  const { effort, maxTokens = Number.POSITIVE_INFINITY } = start.options
  const wanted = effort === undefined ? usual : (BUDGETS[effort] ?? MOST)
  const budget = Math.min(wanted, maxTokens - 1)
  if (budget < LEAST || lacksThinking(start)) return undefined
  if (effort !== undefined && budget < wanted) report(weakened('option.effort', undefined, 'too-narrow'))
  return budget
}

/**
 * True for results of calls that were made without thinking of this provider, which the API requires in the request.
 */
function lacksThinking({ input, history = [] }: TurnStart): boolean {
  if (!input.some(({ type }) => type === 'tool-reply')) return false
  const called = history.findLast(({ role }) => role === 'assistant')?.parts ?? []
  return !called.some((part) => part.type === 'reasoning' && part.seal?.provider === PROTOCOL)
}

/** A model that thinks takes no temperature, and only a high `top_p`. */
function sampling({ temperature, topP }: TurnOptions, report: Report): Pick<ThinkingMembers, 'temperature' | 'topP'> {
  if (temperature !== undefined && temperature !== 1) report(dropped('option.temperature', undefined, 'too-narrow'))
  const narrow = topP !== undefined && topP < LEAST_TOP_P
  if (narrow) report(dropped('option.topP', undefined, 'too-narrow'))
  return { temperature: undefined, topP: narrow ? undefined : topP }
}
