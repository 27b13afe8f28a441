/**
 * The content of a turn, as attributes: only when the operator enabled content, and only for turns that their client
 * does not mark as private. The shapes are those of the GenAI conventions, as JSON text.
 */

import type { TurnContent } from '../src/contract/index.ts'
import { type Part, type TurnView, textOf } from '../src/model/index.ts'

/** Longer texts are cut: collectors refuse attributes of any length. Characters. */
const MAX_TEXT = 65_536

/** The value of `gen_ai.input.messages`: the client's text, and the kinds of its other parts. */
export function inputMessages({ input }: TurnContent): string {
  return JSON.stringify([{ role: 'user', parts: input.flatMap(asked) }])
}

/** The value of `gen_ai.system_instructions`. */
export function systemInstructions(text: string): string {
  return JSON.stringify(part('text', text))
}

/**
 * The value of `gen_ai.output.messages`: the main lane's assistant messages, reasoning and text parts. `reason` is the
 * turn's finish reason; it belongs to every message by the schema.
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

/** The value of `gen_ai.tool.call.result`: the text of a tool's result. */
export function toolResult(parts: readonly Part[]): string {
  return cut(textOf(parts))
}

/** The text, cut to the length of an attribute. */
export function cut(text: string): string {
  return text.slice(0, MAX_TEXT)
}

function asked(one: Part): { type: string; content?: string; mime_type?: string | undefined }[] {
  if (one.type === 'text') return part('text', one.text)
  if (one.type !== 'image' && one.type !== 'audio' && one.type !== 'file') return []
  // Bytes are not sent to a collector.
  return [{ type: one.type, mime_type: one.mime }]
}

function part(type: 'reasoning' | 'text', text: string): { type: string; content: string }[] {
  return text === '' ? [] : [{ type, content: cut(text) }]
}
