import * as v from 'valibot'
import {
  type AskReply,
  isRecord,
  type JsonText,
  member,
  narrowestOption,
  parse,
  type Question,
} from '../../../src/model/index.ts'
import { Verdict } from '../schema.ts'
import { sameJson } from '../wire.ts'

type Approval = Extract<Question, { kind: 'approval' }>
type ApprovalReply = Extract<AskReply, { kind: 'approval' }>

/** The error of a question that the client has no place for. */
export const REFUSED = '{"code":-32601,"message":"The client has no place for this request."}'

/** The client's answer to this question: what it sent, or why there is nothing. */
export function replyTo(question: Question, payload: JsonText | undefined, error = ''): AskReply {
  switch (question.kind) {
    case 'approval':
      return payload === undefined ? deny(question, error) : verdict(question, payload)
    case 'input':
      return { kind: 'input', values: (payload && answersOf(payload)) ?? '{}' }
    case 'client': {
      const result = payload && member(payload, 'mcp_response')
      return result === undefined ? { kind: 'client', error: REFUSED } : { kind: 'client', result }
    }
    case 'tool':
      return { kind: 'tool', status: 'denied', parts: [] }
  }
}

/** Every behaviour but `allow` refuses. */
function verdict(question: Approval, payload: JsonText): ApprovalReply {
  const { behavior, message, interrupt } = v.parse(Verdict, parse(payload))
  if (behavior !== 'allow') return { ...deny(question, message), ...(interrupt && { stopTurn: true as const }) }
  const edited = member(payload, 'updatedInput')
  const changed = edited !== undefined && isRecord(parse(edited)) && !sameJson(edited, question.args)
  return { ...allow(question), ...(changed && { edited }) }
}

function answersOf(payload: JsonText): JsonText | undefined {
  if (v.parse(Verdict, parse(payload)).behavior !== 'allow') return undefined
  const answers = member(member(payload, 'updatedInput') ?? '', 'answers')
  return answers !== undefined && isRecord(parse(answers)) ? answers : undefined
}

/** Consent with the narrowest scope that the agent offers. */
export function allow(question: Approval): ApprovalReply {
  const option = narrowestOption(question.options, 'allow')
  return option ? { kind: 'approval', option: option.id } : deny(question, 'The agent offers no consent.')
}

/** Refusal with the narrowest scope that the agent offers. */
export function deny({ options }: Approval, message: string | undefined): ApprovalReply {
  return { kind: 'approval', option: narrowestOption(options, 'deny')?.id ?? 'deny', ...(message && { message }) }
}
