import type { MessageView, Part, TurnEnd } from '../../src/model/index.ts'

/** Only the agent's own words are the answer: not a sub-agent's, not a tool's. */
export function isAnswer(message: MessageView | undefined): message is MessageView {
  return message !== undefined && message.lane === undefined && message.role === 'assistant'
}

/** Bytes travel from a client to its agent only: as attachments. */
export function isBytes(part: Part): part is Extract<Part, { type: 'image' | 'audio' | 'file' }> {
  return part.type === 'image' || part.type === 'audio' || part.type === 'file'
}

/** The reason why a turn did not complete: the message of its fault, if it has one. */
export function reasonOf({ outcome, fault }: TurnEnd): string {
  return fault?.message || (outcome === 'cancelled' ? 'The turn was cancelled.' : 'The turn did not complete.')
}
