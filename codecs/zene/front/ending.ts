import { dropped, invented, type Report, wellFormed } from '../../../src/codec-kit/index.ts'
import {
  append,
  type Fault,
  fault,
  type JsonText,
  type Loss,
  member,
  object,
  rest,
  type TurnView,
  type Usage,
} from '../../../src/model/index.ts'
import { isBlank, isPlaceholder } from '../text.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import type { Shape } from './args.ts'
import { type Ending, NO_USAGE } from './lines.ts'
import type { Ids } from './request.ts'

/** The facts that the answer to an ended run needs. */
export interface Ended {
  ids: Ids
  shape: Shape
  promptLength: number
  replayed: boolean
}

const USAGE = new Set(['usage'])

/** The failure of a turn whose answer is blank, where a blank answer counts as missing. */
export const emptyAnswer = fault('internal', 'the agent ended without an answer')

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

/** The ending of a run from its view; what it cannot carry goes to `report`. */
export function endingOf(run: Ended, view: TurnView, failed: Fault | undefined, report: Report): Ending {
  const text = failed ? '' : wellFormed(view.text, report, 'text')
  if (failed && view.text !== '') report(dropped('text-delta', 'text', 'policy'))
  if (failed?.ext && (run.shape === 'flat' || failed.ext.protocol !== PROTOCOL)) report(lostExt)
  if (view.end?.ext && view.end.ext.protocol !== PROTOCOL) report(lostExt)
  const ext = ownExt(view.end?.ext)
  const usage = usageOf(view, run.promptLength, text, failed, report)
  return {
    ids: run.ids,
    text,
    usage: append(usage, ext && member(ext, 'usage')),
    ...(failed && { fault: failed }),
    at: view.at,
    latency: view.at - view.startedAt,
    replayed: run.replayed,
    ...(ext && { ext: rest(ext, USAGE) }),
  }
}

/** Members of an event that this protocol has no place for. */
export const lostExt: Loss = dropped('ext')

/** The `usage` object. A success must name at least one token: what the agent did not count is estimated and says so. */
function usageOf(
  view: TurnView,
  promptLength: number,
  text: string,
  failed: Fault | undefined,
  report: Report,
): JsonText {
  const known = counted(view.usage)
  if (known.total > 0) return usageJson(known, view.usageEstimated)
  if (failed) return NO_USAGE
  report(invented('usage.total', 'total_tokens'))
  const input = Math.ceil(promptLength / 4)
  const output = Math.ceil(text.length / 4)
  return usageJson({ input, output, total: Math.max(1, input + output) }, true)
}

interface Counts {
  input: number
  output: number
  total: number
}

function counted(usage: Usage | undefined): Counts {
  const input = tokens(usage?.input)
  const output = tokens(usage?.output)
  return { input, output, total: tokens(usage?.total) || input + output }
}

/** Clients read token counts as unsigned integers. */
function tokens(count = 0): number {
  return Math.min(Math.max(0, Math.round(count)), Number.MAX_SAFE_INTEGER)
}

function usageJson({ input, output, total }: Counts, estimated: boolean): JsonText {
  return object({
    prompt_tokens: String(input),
    completion_tokens: String(output),
    total_tokens: String(total),
    estimated: estimated ? 'true' : undefined,
  })
}
