import { dropped, invented, type Report, wellFormed } from '../../../src/codec-kit/index.ts'
import {
  append,
  type Fault,
  fault,
  type JsonText,
  type Loss,
  type Members,
  member,
  quote,
  rest,
  type TurnView,
} from '../../../src/model/index.ts'
import { isBlank, isPlaceholder } from '../text.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import type { Shape } from './args.ts'
import { errorObject, head, shaped, statusOf, usageJson } from './lines.ts'
import type { Run } from './run.ts'

const USAGE = new Set(['usage'])

/** The failure of a turn whose answer is blank, where a blank answer counts as missing. */
export const emptyAnswer = fault('internal', 'the agent ended without an answer')

/** Members of an event that this protocol has no place for. */
export const lostExt: Loss = dropped('ext')

/** The fault of a turn that did not complete; undefined when it did. */
export function failureOf({ end }: TurnView): Fault | undefined {
  if (end?.outcome === 'cancelled') return fault('cancelled', 'the run was canceled')
  if (end?.outcome === 'failed') return end.fault ?? fault('internal', 'the run failed; see the gateway log')
  return undefined
}

/** The fault of a turn without an answer that this protocol could give as a success; undefined when it has one. */
export function faultOf(view: TurnView, shape: Shape): Fault | undefined {
  const failure = failureOf(view)
  if (failure) return failure
  if (shape !== 'protocol' && isBlank(view.text)) return emptyAnswer
  return isPlaceholder(view.text) ? fault('internal', 'the agent ended without a result of its own') : undefined
}

/**
 * The answer to a run: flat, or a `final` line. A cancelled run's `final` has no error. `report` gets what the answer
 * cannot carry.
 */
export function finalLine(run: Run, view: TurnView, failed: Fault | undefined, report: Report): string {
  const text = failed ? '' : wellFormed(view.text, report, 'text')
  if (failed && view.text !== '') report(dropped('text-delta', 'text', 'policy'))
  if (failed?.ext && (run.shape === 'flat' || failed.ext.protocol !== PROTOCOL)) report(lostExt)
  if (view.end?.ext && view.end.ext.protocol !== PROTOCOL) report(lostExt)
  const ext = ownExt(view.end?.ext)
  const usage = append(usageOf(view, run.promptLength, text, failed, report), ext && member(ext, 'usage'))
  const status = statusOf(failed)
  const protocol: Members = {
    ...head('final', run.ids, view.at),
    status: quote(status),
    text: quote(text),
    usage,
    error: failed && status !== 'CANCELED' ? errorObject(failed) : 'null',
    latency_ms: String(view.at - view.startedAt),
    replayed: run.replayed ? 'true' : undefined,
  }
  return append(shaped(run.shape, run.ids, text, usage, failed, protocol), ext && rest(ext, USAGE))
}

/** The `usage` object. A success must name at least one token: what the agent did not count is estimated and says so. */
function usageOf(
  view: TurnView,
  promptLength: number,
  text: string,
  failed: Fault | undefined,
  report: Report,
): JsonText {
  const [input, output] = [tokens(view.usage?.input), tokens(view.usage?.output)]
  const total = tokens(view.usage?.total) || input + output
  if (total > 0) return usageJson(input, output, total, view.usageEstimated)
  if (failed) return usageJson(0, 0, 0)
  report(invented('usage.total', 'total_tokens'))
  const [asked, answered] = [Math.ceil(promptLength / 4), Math.ceil(text.length / 4)]
  return usageJson(asked, answered, Math.max(1, asked + answered), true)
}

/** Clients read token counts as unsigned integers. */
function tokens(count = 0): number {
  return Math.min(Math.max(0, Math.round(count)), Number.MAX_SAFE_INTEGER)
}
