import type { Ext, Id, MessageView, TurnView } from '../model/index.ts'

/**
 * True for a message whose text is the answer: the agent's own, not one of a sub-agent. The view knows it even if it
 * began in an earlier exchange of the turn.
 */
export function isAnswer(message: MessageView | undefined): message is MessageView {
  return message?.role === 'assistant' && message.lane === undefined
}

/** The fields that a call has as a part of its message. */
export function callExt({ messages }: Pick<TurnView, 'messages'>, tool: Id): Ext | undefined {
  const parts = messages.flatMap((message) => message.parts ?? [])
  return parts.find((part) => part.type === 'tool-call' && part.tool === tool)?.ext
}
