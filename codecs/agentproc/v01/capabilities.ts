import { capabilities } from '../../../src/contract/index.ts'

/** The capabilities of an agent of wire 0.1. */
export const backCapabilities = capabilities({
  full: [
    'turn-start',
    'turn-cancel',
    'session.id',
    'session.name',
    'part.text',
    'turn-accepted',
    'turn-started',
    'turn-end',
    'message-start',
    'text-delta',
    'message-end',
    'message-retract',
    'notice',
    'notice.code',
    'fault.code',
    'session-bound',
  ],
  partial: ['option.systemPrompt', 'part.image', 'part.audio', 'part.file', 'ext'],
})

/** The capabilities of a runner of wire 0.1. */
export const frontCapabilities = capabilities({
  full: [
    'turn-start',
    'turn-cancel',
    'session.id',
    'session.name',
    'option.streaming',
    'turn-accepted',
    'turn-started',
    'turn-end',
    'message-start',
    'text-delta',
    'message-end',
    'session-bound',
  ],
  partial: [
    'part.text',
    'part.image',
    'part.audio',
    'part.file',
    'message-retract',
    'ext',
    // Over HTTP the status shows it; else the exit code shows some.
    'fault.code',
    // Only an answer in one piece leaves out asides.
    'message.phase',
  ],
})
