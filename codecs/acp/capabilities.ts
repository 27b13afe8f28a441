import { TEXT_TURN } from '../../src/codec-kit/index.ts'
import { capabilities } from '../../src/contract/index.ts'

/** The capabilities of an agent of this protocol. */
export const backCapabilities = capabilities({
  full: [
    ...TEXT_TURN,
    'turn-cancel',
    'start.invocation',
    'part.text',
    'reasoning-delta',
    'reasoning-end',
    'notice',
    'agent-ready',
    'session-bound',
    'end.stop',
    'fault.code',
  ],
  partial: ['option.systemPrompt', 'part.image', 'part.audio', 'part.file', 'part.data', 'foreign', 'ext', 'part.ext'],
})
