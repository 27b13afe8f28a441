import { messagePattern } from '../../../src/model/index.ts'

/**
 * A piece of text as agents nearly always write it; older ones without the id of its message. Captures the session, the
 * id where it comes first, the text, and the id where it comes last.
 */
export const PLAIN_TEXT = messagePattern(
  '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":*,"update":{"sessionUpdate":"agent_message_chunk",["messageId":*,]"content":{"type":"text","text":*}[,"messageId":*]}}}',
)
