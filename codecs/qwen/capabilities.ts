import { FILES, TEXT_TURN } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

const BOTH: ItemRows = [
  TEXT_TURN,
  ['turn-cancel', 'query', 'query.hints', 'query.health', 'command-reply', 'session.id'],
  ['start.request', 'start.invocation', 'start.history', 'start.compact'],
  ['option.streaming', 'option.model', 'option.temperature'],
  ['part.text', 'part.reasoning', 'part.tool-call', 'reasoning-delta', 'terminal-output'],
  ['tool-start', 'tool-args-delta', 'tool-call', 'tool-progress'],
  ['usage', 'usage.input', 'usage.output', 'usage.reasoning', 'usage.cacheRead', 'usage.total'],
  ['notice', 'notice.code', 'fault.code', 'ask', 'ask.approval', 'ask.client', 'ask-reply'],
]

/** The capabilities of a client of this dialect. */
export const frontCapabilities = capabilities({
  full: [
    ...BOTH,
    ['session-clear', 'start.agent', 'start.clientTools', 'turn-accepted'],
    ['option.tools', 'option.effort', 'option.systemPrompt', 'option.outputSchema'],
    ['part.tool-reply', 'ask.tool', 'ask-settled'],
  ],
  partial: [
    ['foreign', 'ext', 'part.data', 'part.diff', 'message-retract', 'tool-end'],
    FILES,
    // Only a compaction has one.
    'end.summary',
    // Some stops have one name.
    'end.stop',
    // A tool of the client waits for its result.
    'tool.executor',
  ],
})

/** The capabilities of an agent of this dialect. */
export const backCapabilities = capabilities({
  full: [...BOTH, FILES, ['end.stop', 'end.summary', 'tool-end', 'agent-ready', 'session-bound', 'ask-settled']],
  partial: [
    ['foreign', 'ext', 'option.systemPrompt', 'option.tools', 'option.outputSchema'],
    ['part.data', 'part.diff', 'part.tool-reply'],
  ],
})
