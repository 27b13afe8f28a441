import { capabilities } from '../../../src/contract/index.ts'

/** What a clawrun client says (a prompt and a system prompt) and can be shown (one text). */
export const clawrunCapabilities = capabilities({
  full: [
    'turn-start',
    'start.agent',
    'option.systemPrompt',
    'session.id',
    'session.channel',
    'part.text',
    'turn-accepted',
    'turn-started',
    'turn-end',
    'message-start',
    'text-delta',
    'message-end',
    'message-retract',
    // The status of the answer tells it.
    'fault.code',
  ],
  partial: ['message.phase'],
})
