import { APPROVALS, COUNTS, FILES, TEXT_TURN, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities } from '../../src/contract/index.ts'

/** The capabilities of an agent of this protocol. */
export const backCapabilities = capabilities({
  full: [
    ...TEXT_TURN,
    ...TOOL_CALLS.filter((item) => item !== 'tool-args-delta'),
    ...APPROVALS,
    ...COUNTS,
    'turn-cancel',
    'ask-reply',
    'ask.input',
    'session-clear',
    'config-set',
    'query',
    'command-reply',
    'start.invocation',
    'part.text',
    'reasoning-delta',
    'reasoning-end',
    'plan',
    'notice',
    'agent-ready',
    'session-bound',
    'session-changed',
    'usage.session',
    'tool.kind',
    'tool.title',
    'tool.executor',
    'end.stop',
    'fault.code',
    'notice.code',
  ],
  partial: [
    ...FILES,
    // An agent sends them with its session, and a session is only left between two turns.
    'query.models',
    'query.offers',
    'session-close',
    'option.model',
    'option.effort',
    'option.systemPrompt',
    'start.cwd',
    'start.folders',
    'start.mcpServers',
    'part.data',
    // Tools have them, prompts do not.
    'part.diff',
    'foreign',
    'ext',
    'part.ext',
  ],
})
