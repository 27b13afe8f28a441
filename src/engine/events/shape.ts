import type { Part, TurnEvent } from '../../model/index.ts'

/** In place of an error message: an agent may repeat its prompt there. */
const NOT_KEPT = 'The turn failed with this error; what was said of it is not kept.'

/**
 * An event without its content: kinds, ids, names, order, endings and usage stay, text goes. For the journal of turns
 * whose content must not be kept.
 */
export function shapeOf(event: TurnEvent): TurnEvent {
  const { ext: _ext, ...plain } = event
  switch (plain.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-args-delta':
    case 'terminal-output':
    case 'notice':
      return { ...plain, text: '' }
    case 'message-end':
      return { ...plain, ...(plain.parts && { parts: withoutContent(plain.parts) }) }
    case 'tool-end':
    case 'tool-progress':
      return { ...plain, parts: [] }
    case 'tool-call':
      return { ...plain, args: '{}' }
    case 'directive':
    case 'plan':
      return { ...plain, json: '{}' }
    case 'ask':
      return { ...plain, question: { kind: 'client', method: plain.question.kind, params: '{}' } }
    case 'turn-parked':
      return { ...plain, asks: [] }
    case 'foreign':
      return { ...plain, frame: '' }
    case 'tool-start': {
      const { title: _title, ...tool } = plain
      return tool
    }
    case 'turn-end': {
      const { summary: _summary, fault, ...end } = plain
      return fault ? { ...end, fault: { code: fault.code, message: NOT_KEPT, retryable: fault.retryable } } : end
    }
    default:
      return plain
  }
}

/** A message's parts as one empty text, so that it still counts as a message with text. */
function withoutContent(parts: readonly Part[]): readonly Part[] {
  return parts.length === 0 ? [] : [{ type: 'text', text: '' }]
}
