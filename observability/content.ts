/** What an agent answered, as an attribute: only where the operator has asked for content. */

import type { TurnView } from '../src/model/index.ts'

/** Longer texts are cut: collectors refuse attributes of any length. Characters. */
const MAX_TEXT = 65_536

/**
 * The value of `gen_ai.output.messages`: the main lane's assistant messages as JSON text, reasoning and text parts.
 * `reason` is the turn's finish reason; it belongs to every message by the schema.
 */
export function outputMessages(view: TurnView, reason = 'stop'): string {
  const answers = view.messages.filter((message) => message.role === 'assistant' && message.lane === undefined)
  return JSON.stringify(
    answers.map((message) => ({
      role: 'assistant',
      parts: [...part('reasoning', message.reasoning), ...part('text', message.text)],
      finish_reason: reason,
    })),
  )
}

function part(type: 'reasoning' | 'text', text: string): { type: string; content: string }[] {
  return text === '' ? [] : [{ type, content: text.slice(0, MAX_TEXT) }]
}
