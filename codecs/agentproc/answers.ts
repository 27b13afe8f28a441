import type { MessageView } from '../../src/model/index.ts'

/** Only the agent's own words are the answer: not a sub-agent's, not a tool's. */
export function isAnswer(message: MessageView | undefined): message is MessageView {
  return message !== undefined && message.lane === undefined && message.role === 'assistant'
}
