import { APPROVALS, COUNTS, TEXT_TURN, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities } from '../../src/contract/index.ts'

/** The capabilities of an agent. */
export const backCapabilities = capabilities({
  full: [
    TEXT_TURN,
    TOOL_CALLS,
    APPROVALS,
    COUNTS,
    [
      'turn-cancel',
      'turn-steer',
      'ask-reply',
      'ask.input',
      'ask.client',
      'config-set',
      'query',
      'query.models',
      'query.offers',
    ],
    ['command-reply', 'agent-ready', 'session-bound', 'start.compact', 'start.invocation', 'option.model'],
    ['reasoning-delta', 'reasoning-end', 'reasoning.seal', 'message-retract', 'tool.kind', 'tool.executor'],
    ['notice', 'notice.code', 'end.stop', 'fault.code', 'fault.retryable'],
    ['part.text', 'part.image', 'part.file'],
  ],
  partial: ['option.systemPrompt', 'part.data', 'foreign', 'ext'],
})
