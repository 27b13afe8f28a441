import type { Item } from '../model/index.ts'

/** Items that most protocols carry together, for their capabilities. */

/** A prompt and its answer as text. */
export const TEXT_TURN = [
  'turn-start',
  'turn-started',
  'turn-end',
  'message-start',
  'text-delta',
  'message-end',
] as const satisfies readonly Item[]

/** Files of a prompt or an answer. */
export const FILES = ['part.image', 'part.audio', 'part.file'] as const satisfies readonly Item[]

/** Calls of tools, from the first piece of their arguments to their results. */
export const TOOL_CALLS = [
  'tool-start',
  'tool-args-delta',
  'tool-call',
  'tool-progress',
  'tool-end',
] as const satisfies readonly Item[]

/** Questions for approvals, and what became of them. The answer is `ask-reply`. */
export const APPROVALS = ['ask', 'ask.approval', 'ask-settled'] as const satisfies readonly Item[]

/** Every count of tokens, and the cost. */
export const COUNTS = [
  'usage',
  'usage.input',
  'usage.output',
  'usage.reasoning',
  'usage.cacheRead',
  'usage.cacheWrite',
  'usage.total',
  'usage.costUsd',
] as const satisfies readonly Item[]
