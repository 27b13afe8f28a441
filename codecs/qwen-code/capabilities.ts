import { capabilities } from '../../src/contract/index.ts'
import type { Item } from '../../src/model/index.ts'

const BOTH: readonly Item[] = [
  'turn-start',
  'turn-cancel',
  'ask-reply',
  'query',
  'query.models',
  'option.model',
  'option.effort',
  'part.text',
  'part.reasoning',
  'turn-started',
  'turn-end',
  'message-start',
  'text-delta',
  'reasoning-delta',
  'message-end',
  'message-retract',
  'tool-end',
  'usage',
  'usage.input',
  'usage.output',
  'usage.cacheRead',
  'usage.total',
  'notice',
  'notice.code',
  'fault.code',
  'reasoning.seal',
  'ask',
  'ask-settled',
  'command-reply',
]

/** The capabilities of a client of this dialect. */
export const frontCapabilities = capabilities({
  full: [
    ...BOTH,
    'session-clear',
    'config-set',
    'option.systemPrompt',
    'option.outputSchema',
    'option.streaming',
    'session.id',
    'turn-accepted',
  ],
  // A model call is known only by its number, a tool call only once it is whole.
  partial: [
    'foreign',
    'ext',
    'tool-call',
    'part.data',
    'part.diff',
    'step-start',
    'step-end',
    'tool-start',
    'tool-args-delta',
    'tool-progress',
    // Of all stops only the limit of model calls.
    'end.stop',
    // Consent and refusal are all that can be chosen.
    'ask.approval',
    'ask.input',
    'ask.client',
  ],
})

/** The capabilities of an agent of this dialect. */
export const backCapabilities = capabilities({
  full: [
    ...BOTH,
    'tool-call',
    'ask.approval',
    'config-set',
    'start.invocation',
    'agent-ready',
    'session-bound',
    'tool-start',
    'tool-args-delta',
    'tool-progress',
    'ask.input',
    'ask.client',
    'end.stop',
  ],
  partial: ['foreign', 'ext', 'option.systemPrompt', 'part.data'],
})
