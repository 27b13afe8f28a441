/** The closed lists of words of the model, as values; the types are made of them. */

/** The author of a message. */
export const ROLES = ['user', 'assistant', 'tool', 'system'] as const
export type Role = (typeof ROLES)[number]

/** The side that runs a tool: only a call of a `client` tool is for the client to run. */
export const EXECUTORS = ['agent', 'client', 'provider'] as const
export type Executor = (typeof EXECUTORS)[number]

/** The outcome of a tool's run. */
export const TOOL_STATUSES = ['ok', 'error', 'denied', 'cancelled'] as const
export type ToolStatus = (typeof TOOL_STATUSES)[number]

/** The reason why a turn or a step stopped. */
export const STOPS = [
  'end',
  'max-tokens',
  'max-turns',
  'tool-use',
  'stop-sequence',
  'refusal',
  'content-filter',
  'context-window',
  'max-budget',
  'aborted',
  'error',
] as const
export type Stop = (typeof STOPS)[number]

/** The queries that a front can send to the gateway itself; `query.ts` has the shape of each answer. */
export const QUERIES = [
  'state',
  'messages',
  'models',
  'offers',
  'agent',
  'agents',
  'sessions',
  'session',
  'agent-sessions',
  'turns',
  'turn',
  'input',
  'hints',
  'health',
] as const
export type QueryWhat = (typeof QUERIES)[number]

/**
 * The fate of something lost. `dropped`: gone. `weakened`: arrived with less. `invented`: made up because the target
 * requires it. `unparsed`: not understood.
 */
export const LOSS_KINDS = ['dropped', 'weakened', 'invented', 'unparsed'] as const
/** The reason for a loss. */
export const LOSS_REASONS = ['no-place', 'too-narrow', 'required', 'policy', 'unknown', 'precision'] as const
