/** The reasons for which an answer stops. */
export const STOPS: readonly unknown[] = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]

/** The deltas that each type of block has. Types that are not here may have any. */
export const DELTAS: Readonly<Record<string, readonly unknown[]>> = {
  text: ['text_delta', 'citations_delta'],
  tool_use: ['input_json_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
}
