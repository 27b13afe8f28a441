import { APPROVALS, COUNTS, FILES, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities } from '../../src/contract/index.ts'
import type { Item } from '../../src/model/index.ts'

const BOTH: readonly Item[] = [
  ...COUNTS,
  'turn-start',
  'start.askedCapabilities',
  'start.environment',
  'option.locale',
  'session.id',
  'session.conversation',
  'session.continuation',
  'part.text',
  'turn-started',
  'turn-end',
  'message-start',
  'message-end',
  'directive',
  'usage.estimated',
  'notice',
  'notice.code',
  'end.stop',
  'end.summary',
  'end.continuation',
  'fault.code',
  'fault.retryable',
  'ask',
  'ask.approval',
]

/** Attachments are references: bytes by value are refused both ways. Only the streaming profile shows the rest. */
const BOTH_PARTLY: readonly Item[] = [
  ...FILES,
  ...TOOL_CALLS,
  'foreign',
  'ext',
  'reasoning-delta',
  'tool.kind',
  'tool.title',
  'tool.executor',
  'usage.session',
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
    ...APPROVALS,
    'ask-reply',
    'start.request',
    'start.agent',
    'start.once',
    'option.streaming',
    'turn-accepted',
    'turn-parked',
    'text-delta',
    'message-retract',
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
    'turn-cancel',
    // Arguments that the engine has not shown cannot be changed.
    'ask-reply',
    'option.systemPrompt',
    'message-retract',
  ],
})
