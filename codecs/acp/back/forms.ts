import { type AskReply, type JsonText, parseObject } from '../../../src/model/index.ts'

/** The result of a form that nobody answers. */
export const UNANSWERED = '{"action":"cancel"}'

/** The result of a form. An answer without any value is the client's way, and the policy's, to decline. */
export function formResult(reply: AskReply, needsValues: boolean): JsonText {
  if (reply.kind !== 'input') return UNANSWERED
  const values = parseObject(reply.values)
  if (!values || (needsValues && Object.keys(values).length === 0)) return '{"action":"decline"}'
  return `{"action":"accept","content":${reply.values}}`
}

/** The result of a page to open; the values say only that there is an answer: the agent learns from the page what it is. */
export function urlResult(reply: AskReply): JsonText {
  if (reply.kind !== 'input') return UNANSWERED
  const values = parseObject(reply.values) ?? {}
  return Object.keys(values).length > 0 ? '{"action":"accept"}' : '{"action":"decline"}'
}
