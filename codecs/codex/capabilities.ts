import { APPROVALS, TEXT_TURN, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

const BOTH: ItemRows = [
  TEXT_TURN,
  ['turn-cancel', 'option.model', 'session-bound', 'end.stop', 'fault.code', 'fault.retryable'],
  [
    'reasoning-delta',
    'tool-start',
    'tool-call',
    'tool-end',
    'tool.executor',
    'tool.kind',
    'plan',
    'notice',
    'notice.code',
  ],
  ['usage', 'usage.input', 'usage.output', 'usage.reasoning', 'usage.cacheRead', 'usage.total'],
  ['part.text'],
]

/** The capabilities of an agent behind its app-server. */
export const appServerCapabilities = capabilities({
  full: [
    ...BOTH,
    TOOL_CALLS,
    APPROVALS,
    [
      'ask.input',
      'ask.tool',
      'turn-steer',
      'start.compact',
      'option.effort',
      'option.outputSchema',
      'start.cwd',
      'start.folders',
    ],
    [
      'query',
      'query.models',
      'query.agent-sessions',
      'command-reply',
      'agent-ready',
      'reasoning-end',
      'message.phase',
      'message-retract',
      'tool.title',
    ],
    ['part.image', 'part.audio', 'part.diff', 'usage.cacheWrite'],
  ],
  // Only threads that the gateway remembers; instructions and tools are those of the whole session; of history only texts; of replies not their reasons.
  partial: [
    'session-delete',
    'option.systemPrompt',
    'start.clientTools',
    'start.mcpServers',
    'start.history',
    'ask-reply',
    'part.data',
    'foreign',
    'ext',
  ],
})

/** The capabilities of an agent that is started for each turn. */
export const execCapabilities = capabilities({
  full: BOTH,
  partial: ['part.data', 'foreign', 'ext', 'option.systemPrompt'],
})
