import { capabilities } from '../../../src/contract/index.ts'

/** The capabilities of an agent of wire 0.3. */
export const backCapabilities = capabilities({
  full: [
    'turn-start',
    'turn-cancel',
    'session.id',
    'session.name',
    'option.streaming',
    'part.text',
    'turn-accepted',
    'turn-started',
    'turn-end',
    'message-start',
    'text-delta',
    'reasoning-delta',
    'message-end',
    'notice',
    'notice.code',
    'fault.code',
    'ask',
    'ask.approval',
    'ask-settled',
    'session-bound',
  ],
  partial: ['ext', 'ask-reply', 'option.systemPrompt', 'part.image', 'part.audio', 'part.file'],
})

/** The capabilities of a runner of wire 0.3. */
export const frontCapabilities = capabilities({
  full: [
    'turn-start',
    'turn-cancel',
    'ask-reply',
    'session.id',
    'session.name',
    'part.text',
    'part.reasoning',
    'turn-accepted',
    'turn-started',
    'turn-end',
    'message-start',
    'text-delta',
    'reasoning-delta',
    'message-end',
    'session-bound',
  ],
  partial: [
    'ext',
    'ask',
    'ask.approval',
    'ask-settled',
    'part.image',
    'part.audio',
    'part.file',
    'message-retract',
    'fault.code',
    'message.phase',
  ],
})
