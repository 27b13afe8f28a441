import type { MessageView } from '../model/index.ts'

/**
 * True for a message whose text is the answer: the agent's own, not one of a sub-agent. The view knows it even if it
 * began in an earlier exchange of the turn.
 */
export function isAnswer(message: MessageView | undefined): message is MessageView {
  return message?.role === 'assistant' && message.lane === undefined
}
