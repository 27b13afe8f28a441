import { capabilities } from '../../../src/contract/index.ts'

/** The capabilities of a clawrun client: it sends a prompt and a system prompt, and reads one text. */
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
    // The status of the answer shows it.
    'fault.code',
  ],
  partial: ['message.phase'],
})
