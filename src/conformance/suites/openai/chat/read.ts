import {
  type AgentRun,
  bodyOf,
  isCount,
  type JsonRecord,
  objectIn,
  parsed,
  recordsIn,
  streamed,
} from '../../../kit/index.ts'
/** The reasons for which an answer ends. */
export const FINISHES: readonly unknown[] = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call']

/** The first choice of a whole answer. */
export const choiceOf = (run: AgentRun): JsonRecord => recordsIn(bodyOf(run), 'choices')[0] ?? {}
/** The message of it. */
export const messageOf = (run: AgentRun): JsonRecord => objectIn(choiceOf(run), 'message')
/** The calls of tools of it. */
export const callsOf = (run: AgentRun): JsonRecord[] => recordsIn(messageOf(run), 'tool_calls')
/** True for content of a message or a delta. */
export const isContent = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string'
/** The value of the JSON text of arguments. */
export const argumentsOf = (text: unknown): unknown => (typeof text === 'string' ? parsed(text) : undefined)

/** The chunks of a stream. */
export const chunksOf = (run: AgentRun): JsonRecord[] => streamed(run).filter((chunk) => !('error' in chunk))
/** The first choices of the chunks. */
export const choicesOf = (run: AgentRun): JsonRecord[] => chunksOf(run).flatMap((chunk) => recordsIn(chunk, 'choices'))
/** The deltas of the chunks. */
export const deltasOf = (run: AgentRun): JsonRecord[] => choicesOf(run).map((choice) => objectIn(choice, 'delta'))
/** The pieces of calls in a stream by their index, in order. */
export function piecesOf(run: AgentRun): JsonRecord[][] {
  const calls: JsonRecord[][] = []
  for (const piece of deltasOf(run).flatMap((delta) => recordsIn(delta, 'tool_calls'))) {
    const at = Number(piece['index'])
    calls[at] = [...(calls[at] ?? []), piece]
  }
  return calls
}
/** The function of a call. */
export const functionOf = (call: JsonRecord): JsonRecord => objectIn(call, 'function')

/** True for counts of tokens with the right sum. */
export const isUsage = ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: total,
}: JsonRecord): boolean => [input, output, total].every(isCount) && Number(input) + Number(output) === total
