import { TEXT_TURN, TOOL_CALLS } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

const BOTH: ItemRows = [
  TEXT_TURN,
  ['turn-cancel', 'query', 'query.models', 'command-reply', 'option.model', 'option.effort'],
  ['part.text', 'part.reasoning', 'reasoning-delta', 'reasoning.seal', 'message-retract', 'tool-end'],
  ['usage', 'usage.input', 'usage.output', 'usage.cacheRead', 'usage.total'],
  ['notice', 'notice.code', 'fault.code', 'ask', 'ask-reply', 'ask-settled'],
]

/** The capabilities of a client of this dialect. */
export const frontCapabilities = capabilities({
  full: [
    ...BOTH,
    ['session-clear', 'session.id', 'config-set', 'turn-accepted'],
    ['option.systemPrompt', 'option.outputSchema', 'option.streaming'],
  ],
  partial: [
    // A model call is known only by its number, a tool call only once it is whole.
    ['step-start', 'step-end', 'tool-start', 'tool-args-delta', 'tool-call', 'tool-progress'],
    ['foreign', 'ext', 'part.data', 'part.diff'],
    // Of all stops only the limit of model calls.
    'end.stop',
    // Consent and refusal are all that can be chosen.
    ['ask.approval', 'ask.input', 'ask.client'],
  ],
})

/** The capabilities of an agent of this dialect. */
export const backCapabilities = capabilities({
  full: [
    ...BOTH,
    TOOL_CALLS,
    ['config-set', 'start.invocation', 'agent-ready', 'session-bound', 'end.stop'],
    ['ask.approval', 'ask.input', 'ask.client'],
  ],
  partial: ['foreign', 'ext', 'option.systemPrompt', 'part.data'],
})
