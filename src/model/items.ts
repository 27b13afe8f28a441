import type { AskKind } from './asks.ts'
import type { Command, SessionRef, TurnOptions } from './command.ts'
import type { AgentEvent } from './event.ts'
import type { Part, Usage } from './parts.ts'
import type { QueryWhat } from './words.ts'

/** All items that a translation can lose: the rows of the matrix, the keys of capabilities, the `item` of a loss. */
export const ITEMS = [
  // commands
  'turn-start',
  'turn-cancel',
  'turn-follow',
  'turn-steer',
  'turn-delete',
  'ask-reply',
  'session-open',
  'session-close',
  'session-clear',
  'session-delete',
  'session-fork',
  'config-set',
  'query',
  // members of a turn-start
  'start.compact',
  'start.request',
  'start.agent',
  'start.user',
  'start.once',
  'start.invocation',
  'start.history',
  'start.clientTools',
  'start.askedCapabilities',
  'start.environment',
  'start.cwd',
  'start.folders',
  'start.mcpServers',
  'option.streaming',
  'option.model',
  'option.temperature',
  'option.topP',
  'option.maxTokens',
  'option.stop',
  'option.effort',
  'option.totalMs',
  'option.systemPrompt',
  'option.tools',
  'option.toolChoice',
  'option.parallelTools',
  'option.outputSchema',
  'option.locale',
  'session.id',
  'session.conversation',
  'session.channel',
  'session.name',
  'session.continuation',
  'query.state',
  'query.messages',
  'query.models',
  'query.offers',
  'query.agent',
  'query.agents',
  'query.sessions',
  'query.session',
  'query.agent-sessions',
  'query.turns',
  'query.turn',
  'query.input',
  'query.hints',
  'query.health',
  // parts, both ways
  'part.text',
  'part.image',
  'part.audio',
  'part.file',
  'part.data',
  'part.reasoning',
  'part.tool-call',
  'part.tool-reply',
  'part.diff',
  'part.ext',
  // events
  'turn-accepted',
  'turn-started',
  'turn-parked',
  'turn-end',
  'step-start',
  'step-end',
  'message-start',
  'text-delta',
  'reasoning-delta',
  'reasoning-end',
  'citation',
  'message-end',
  'message-retract',
  'tool-start',
  'tool-args-delta',
  'tool-call',
  'tool-progress',
  'tool-end',
  'terminal-output',
  'directive',
  'plan',
  'usage',
  'notice',
  'ask',
  'ask-settled',
  'ask.approval',
  'ask.input',
  'ask.client',
  'ask.tool',
  'agent-ready',
  'session-bound',
  'session-changed',
  'command-reply',
  'usage.input',
  'usage.output',
  'usage.reasoning',
  'usage.cacheRead',
  'usage.cacheWrite',
  'usage.total',
  'usage.costUsd',
  'usage.estimated',
  // members of events that protocols have words for or not, whatever they make of the event
  'usage.session',
  'end.stop',
  'end.summary',
  'end.continuation',
  'fault.code',
  'fault.retryable',
  'message.phase',
  'tool.kind',
  'tool.title',
  'tool.executor',
  'notice.code',
  'reasoning.seal',
  // both ways
  'foreign',
  'ext',
] as const

/** One thing that can be lost. */
export type Item = (typeof ITEMS)[number]

/** The items that the model's types imply; the assertion below keeps `ITEMS` complete. */
type Named =
  | Command['type']
  | AgentEvent['type']
  | `part.${Part['type']}`
  | `ask.${AskKind}`
  | `option.${keyof TurnOptions}`
  | `session.${Exclude<keyof SessionRef, 'bound' | 'origin'>}`
  | `query.${QueryWhat}`
  | `usage.${keyof Usage | 'estimated'}`

type Missing = Exclude<Named, Item>
const complete: Missing extends never ? true : Missing = true
void complete

/**
 * The items of a group by their names within it, such as `model` of `option`. A name that is put together for each look
 * would be a new string each time, which is a slow key.
 */
export function itemsOf(group: string): Readonly<Record<string, Item | undefined>> {
  const prefix = `${group}.`
  const items: Record<string, Item> = Object.create(null)
  for (const item of ITEMS) if (item.startsWith(prefix)) items[item.slice(prefix.length)] = item
  return items
}
