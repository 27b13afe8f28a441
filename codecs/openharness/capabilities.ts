import { APPROVALS, COUNTS, FILES, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

const BOTH: ItemRows = [
  COUNTS,
  ['turn-start', 'turn-started', 'turn-end', 'message-start', 'message-end', 'part.text', 'directive'],
  ['start.askedCapabilities', 'start.environment', 'option.locale'],
  ['session.id', 'session.conversation', 'session.continuation'],
  ['end.stop', 'end.summary', 'end.continuation', 'fault.code', 'fault.retryable'],
  ['usage.estimated', 'notice', 'notice.code', 'ask', 'ask.approval'],
]

/** Attachments are references: bytes by value are refused both ways. Only the streaming profile shows the rest. */
const BOTH_PARTLY: ItemRows = [
  FILES,
  TOOL_CALLS,
  ['foreign', 'ext', 'reasoning-delta', 'tool.kind', 'tool.title', 'tool.executor', 'usage.session'],
  // A whole answer leaves out asides.
  'message.phase',
]

/**
 * The capabilities of the front half. Tools and reasoning reach it in the streaming profile only; a whole answer reports
 * them as lost.
 */
export const frontCapabilities = capabilities({
  full: [
    ...BOTH,
    APPROVALS,
    ['ask-reply', 'start.request', 'start.agent', 'start.once', 'option.streaming'],
    ['turn-accepted', 'turn-parked', 'text-delta', 'message-retract'],
  ],
  partial: [...BOTH_PARTLY, 'part.data', 'part.diff', 'part.reasoning'],
})

/**
 * The capabilities of the back half. Text deltas are `none` because an engine says nothing before its whole answer unless
 * the streaming profile is switched on for it: its silence while it works must not be taken for its end.
 */
export const backCapabilities = capabilities({
  full: [...BOTH, 'session-bound'],
  partial: [
    ...BOTH_PARTLY,
    ['turn-cancel', 'option.systemPrompt', 'message-retract'],
    // Arguments that the engine has not shown cannot be changed.
    'ask-reply',
  ],
})
