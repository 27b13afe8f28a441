import type { AskReply } from '../../../../src/model/index.ts'

/** The client's answer to an ask. */
export function replyTo(ask: string | undefined, reply: AskReply) {
  return { exchange: 'x', type: 'ask-reply', target: 'running', ...(ask && { ask }), reply } as const
}
