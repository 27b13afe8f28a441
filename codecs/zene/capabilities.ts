import { TEXT_TURN } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

const BOTH: ItemRows = [
  TEXT_TURN,
  ['turn-cancel', 'query', 'query.health', 'command-reply', 'session.id', 'session.channel'],
  ['start.request', 'start.agent', 'option.streaming', 'option.totalMs'],
  ['usage', 'usage.input', 'usage.output', 'usage.total', 'usage.estimated', 'fault.code'],
]

/** The capabilities of a Zene client. Text arrives as deltas in stream mode and whole in an answer. */
export const frontCapabilities = capabilities({
  full: [...BOTH, 'session-close', 'start.once', 'turn-accepted'],
  // Asides are left out.
  partial: ['foreign', 'ext', 'part.text', 'message-retract', 'message.phase'],
})

/** The capabilities of a Zene agent. */
export const backCapabilities = capabilities({
  full: [...BOTH, 'part.text', 'agent-ready'],
  partial: ['foreign', 'ext', 'session-close', 'session.conversation', 'option.systemPrompt'],
})

/** The capabilities of a clawrun client: it sends a prompt and a system prompt, and reads one text. */
export const clawrunCapabilities = capabilities({
  full: [
    TEXT_TURN,
    ['start.agent', 'option.systemPrompt', 'session.id', 'session.channel', 'turn-accepted'],
    ['part.text', 'message-retract'],
    // The status of the answer shows it.
    'fault.code',
  ],
  partial: ['message.phase'],
})
