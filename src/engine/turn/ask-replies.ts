import type { Route } from '../../contract/index.ts'
import { type AskReply, narrowestOption, type Question } from '../../model/index.ts'

/** The policy's reply to a question: approvals by the route, everything else is refused. */
export function policyReply(question: Question, policy: Route['approvals']): AskReply {
  switch (question.kind) {
    case 'approval':
      return { kind: 'approval', option: narrowestOption(question.options, policy)?.id ?? policy }
    case 'input':
      return { kind: 'input', values: '{}' }
    case 'client':
      return { kind: 'client', error: '{"message":"There is no client that could do this."}' }
    case 'tool':
      return { kind: 'tool', status: 'denied', parts: [] }
  }
}

/** The reason why a reply does not answer this question; undefined when it does. `deny` answers where no option denies. */
export function mismatchOf(question: Question, reply: AskReply): string | undefined {
  if (question.kind !== reply.kind) return `The question wants an answer of the kind "${question.kind}".`
  if (question.kind !== 'approval' || reply.kind !== 'approval') return undefined
  const { options } = question
  if (options.some(({ id }) => id === reply.option)) return undefined
  if (reply.option === 'deny' && !options.some(({ kind }) => kind === 'deny')) return undefined
  return `The question has no such option; choose one of: ${options.map(({ id }) => id).join(', ')}.`
}

/** The question as logs and notices name it. It has no content but the tool's name. */
export function describe(question: Question): string {
  return question.kind === 'approval' ? `approval of ${question.name}` : question.kind
}

/** The option that a reply chooses, as a member. */
export function optionOf(reply: AskReply): { option?: string } {
  return reply.kind === 'approval' ? { option: reply.option } : {}
}
