import { COUNTS, TEXT_TURN, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

const BOTH: ItemRows = [
  TEXT_TURN,
  TOOL_CALLS.filter((item) => item !== 'tool-end'),
  COUNTS.filter((item) => item !== 'usage.total'),
  ['turn-cancel', 'session-clear', 'start.compact', 'option.model', 'step-start', 'step-end', 'notice', 'end.stop'],
  ['query', 'query.state', 'query.messages', 'query.models', 'query.health', 'command-reply'],
  ['part.text', 'part.tool-call', 'part.tool-reply'],
]

/** The capabilities of a client of this protocol. */
export const frontCapabilities = capabilities({
  full: [
    ...BOTH,
    ['config-set', 'start.request', 'option.effort', 'option.systemPrompt', 'option.tools'],
    ['session.id', 'turn-accepted'],
  ],
  partial: [
    ['foreign', 'ext', 'part.image', 'part.data', 'message-retract', 'tool-end'],
    // Only a compaction has one.
    'end.summary',
    // Shown by the message of a failure or the type of a notice.
    ['fault.code', 'notice.code'],
  ],
})

/** The capabilities of an agent of this protocol. */
export const backCapabilities = capabilities({
  full: [...BOTH, 'agent-ready', 'tool-end', 'usage.estimated', 'end.summary', 'fault.code', 'notice.code'],
  partial: ['foreign', 'ext', 'config-set', 'option.systemPrompt', 'part.image', 'part.data'],
})
