import { type AskReply, type JsonText, member, object, type Question } from '../../../src/model/index.ts'
import {
  commandDecisions,
  type Decision,
  FILE_DECISIONS,
  grantJson,
  optionsOf,
  PERMISSION_OPTIONS,
} from './approvals.ts'
import { elicitationAnswer, elicitationForm, textMember, toolAnswer, userInputAnswer, userInputForm } from './forms.ts'
import type { Lane } from './lane.ts'

/** A question of the agent, and how its answer is written. */
export interface Asked {
  question: Question
  /** Undefined for an answer of another kind. */
  answer(reply: AskReply): Verdict | undefined
}

/** The result that answers a request; `weakens` names what of the reply it cannot say, `stops` ends the turn. */
interface Verdict {
  result: JsonText
  weakens?: readonly string[]
  stops?: boolean
}

type Reader = (lane: Lane, params: unknown, json: JsonText) => Asked | undefined

/** The requests of an agent that a client can answer, by their method. */
export const READERS: Readonly<Record<string, Reader>> = {
  'item/commandExecution/requestApproval': (lane, params, json) => {
    const network = member(json, 'networkApprovalContext')
    const args = network === undefined || network === 'null' ? commandArgs(json) : network
    return approval({ lane, params, name: 'shell', args, decisions: commandDecisions(json) })
  },
  'item/fileChange/requestApproval': (lane, params) =>
    approval({ lane, params, name: 'apply_patch', args: '{}', decisions: FILE_DECISIONS }),
  'item/permissions/requestApproval': (lane, params, json) => {
    const args = member(json, 'permissions') ?? '{}'
    const question = about(lane, params, 'request_permissions', args)
    return {
      question: { ...question, options: PERMISSION_OPTIONS, editable: true },
      answer: (reply) =>
        reply.kind === 'approval'
          ? {
              result: grantJson(reply.option, reply.edited ?? args),
              weakens: droppedMembers(reply),
              stops: reply.stopTurn === true,
            }
          : undefined,
    }
  },
  'item/tool/requestUserInput': (_, params) => form(userInputForm(params), userInputAnswer),
  'mcpServer/elicitation/request': (_, params, json) => form(elicitationForm(params, json), elicitationAnswer),
  'item/tool/call': (lane, params) => {
    const call = lane.running(textMember(params, 'callId') ?? '')
    if (!call) return undefined
    return {
      question: { kind: 'tool', tool: call.tool },
      answer: (reply) => (reply.kind === 'tool' ? toolAnswer(reply) : undefined),
    }
  },
}

/** The part of an approval that is the same for all of them: the call that it is about, and the agent's reason. */
function about(lane: Lane, params: unknown, name: string, args: JsonText): Omit<Approval, 'options'> {
  const running = lane.running(textMember(params, 'itemId') ?? '')
  const reason = textMember(params, 'reason')
  return {
    kind: 'approval',
    ...(running && { tool: running.tool }),
    name,
    args: args === '{}' ? (running?.args ?? args) : args,
    ...(reason !== undefined && { description: reason }),
  }
}

type Approval = Extract<Question, { kind: 'approval' }>

interface ApprovalOf {
  lane: Lane
  params: unknown
  name: string
  args: JsonText
  decisions: readonly Decision[]
}

/** An approval that is answered by one of these decisions. */
function approval({ lane, params, name, args, decisions }: ApprovalOf): Asked {
  const question = { ...about(lane, params, name, args), options: optionsOf(decisions) }
  return {
    question,
    answer: (reply) => (reply.kind === 'approval' ? decide(reply, question.args, decisions) : undefined),
  }
}

/** The agent runs what it asked about, whatever comes back: consent to other arguments is therefore a refusal. */
function decide(
  reply: Extract<AskReply, { kind: 'approval' }>,
  args: JsonText,
  decisions: readonly Decision[],
): Verdict {
  const edited = reply.edited !== undefined && reply.edited !== args
  const chosen = decisions.find(({ id }) => id === reply.option)
  const refused = edited || chosen?.kind !== 'allow'
  const word = refused && reply.stopTurn ? 'cancel' : edited ? 'decline' : (chosen?.id ?? 'decline')
  const json = chosen?.id === word ? chosen.json : `"${word}"`
  return {
    result: object({ decision: json }),
    weakens: [...(edited ? ['edited'] : []), ...droppedMembers(reply)],
    stops: word === 'cancel',
  }
}

/** The members of a reply to an approval that the protocol has no place for. */
function droppedMembers({ message }: { message?: string }): string[] {
  return message === undefined ? [] : ['message']
}

function form(question: Question | undefined, write: (values: JsonText) => JsonText): Asked | undefined {
  return (
    question && {
      question,
      answer: (reply) => (reply.kind === 'input' ? { result: write(reply.values) } : undefined),
    }
  )
}

function commandArgs(json: JsonText): JsonText {
  return object(['command', 'cwd'].map((key) => [key, member(json, key)]))
}
