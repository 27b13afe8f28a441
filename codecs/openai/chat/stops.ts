import { wordTable } from '../../../src/codec-kit/index.ts'
import { type Fault, fault, type Stop } from '../../../src/model/index.ts'

/** The `finish_reason` of every stop. Stops of failed and cancelled turns are errors instead. */
export const FINISH: Readonly<Record<Stop, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-use': 'stop',
  'max-turns': 'stop',
  'max-budget': 'stop',
  'max-tokens': 'length',
  'context-window': 'length',
  refusal: 'content_filter',
  'content-filter': 'content_filter',
  aborted: 'stop',
  error: 'stop',
}

/** Stops that share a `finish_reason` with a usual one. */
export const NARROW: ReadonlySet<Stop> = new Set([
  'stop-sequence',
  'tool-use',
  'max-turns',
  'max-budget',
  'context-window',
  'refusal',
])

/**
 * The stops of the `finish_reason`s that servers have, many more than the specification; `error` for an answer that is
 * broken off.
 */
const STOPS = wordTable<Stop>({
  stop: 'end',
  tool_calls: 'end',
  function_call: 'end',
  eos: 'end',
  eos_token: 'end',
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  length: 'max-tokens',
  max_tokens: 'max-tokens',
  // Mistral's and Zhipu's words for a context that is full.
  model_length: 'context-window',
  model_context_window_exceeded: 'context-window',
  content_filter: 'content-filter',
  sensitive: 'content-filter',
  safety: 'content-filter',
  refusal: 'refusal',
  error: 'error',
  // DeepSeek and Zhipu have broken off, vLLM and SGLang were told to.
  insufficient_system_resource: 'error',
  network_error: 'error',
  abort: 'error',
  aborted: 'error',
})

/** The stop of a `finish_reason`; undefined for a word that is not known. */
export function stopOf(reason: string): Stop | undefined {
  return STOPS.get(reason.toLowerCase())
}

/** The fault of an answer that its server has broken off for this reason. */
export function brokenOff(reason: string): Fault {
  if (reason === 'error') return fault('provider-error', 'The model provider ended its answer with an error.')
  return fault('provider-down', `The model provider broke its answer off (${reason}); send the request again.`)
}
