import {
  type AgentRun,
  isText,
  type JsonRecord,
  objectIn,
  objectsOf,
  show,
  skip,
  type Verdict,
} from '../../kit/index.ts'
import { isAnswer, updateOf } from './scenarios.ts'

/** The messages that answer requests of the client. */
export function answers(run: AgentRun): JsonRecord[] {
  return objectsOf(run).filter((one) => !('method' in one))
}

/** The answer to the request with this id. */
export function answerTo(run: AgentRun, id: string | number): JsonRecord | undefined {
  return objectsOf(run).find((one) => isAnswer(one, id))
}

/** The result of the request with this id; an empty object when it failed. */
export function resultOf(run: AgentRun, id: string | number): JsonRecord {
  return objectIn(answerTo(run, id), 'result')
}

/** The code of the error that a request was answered with. */
export function errorCode(run: AgentRun, id: string | number): unknown {
  return objectIn(answerTo(run, id), 'error')['code']
}

/** The requests and notifications of the agent with this method. */
export function calls(run: AgentRun, method: string): JsonRecord[] {
  return objectsOf(run).filter((one) => one['method'] === method)
}

/** The updates of these kinds of all sessions, in order. */
export function updates(run: AgentRun, ...kinds: readonly string[]): JsonRecord[] {
  return calls(run, 'session/update')
    .map(updateOf)
    .filter(({ sessionUpdate }) => kinds.includes(String(sessionUpdate)))
}

/** The capabilities that the agent has named. */
export function capabilities(run: AgentRun): JsonRecord {
  return objectIn(resultOf(run, 'i1'), 'agentCapabilities')
}

/** The prompts of each scenario. */
export const PROMPTS: Readonly<Record<string, readonly string[]>> = {
  turn: ['p1', 'p2'],
  cancel: ['p3'],
  tool: ['p4'],
  big: ['p5'],
  'line-separator': ['p6'],
}

/** The kinds of updates that are of a turn. */
export const OF_TURNS: readonly unknown[] = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
]
export const STOPS: readonly unknown[] = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']
export const STATUSES: readonly unknown[] = ['pending', 'in_progress', 'completed', 'failed']
export const KINDS: readonly unknown[] = [
  ...['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'],
]
export const OPTION_KINDS: readonly unknown[] = ['allow_once', 'allow_always', 'reject_once', 'reject_always']

/** Skips a run whose session was not opened. */
export const inSession =
  (judge: (run: AgentRun) => Verdict) =>
  (run: AgentRun): Verdict =>
    isText(resultOf(run, 'n1')['sessionId']) ? judge(run) : skip(`no session was opened: ${show(answerTo(run, 'n1'))}`)
