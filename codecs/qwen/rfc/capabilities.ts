import { capabilities } from '../../../src/contract/index.ts'
import type { Item } from '../../../src/model/index.ts'

const BOTH: readonly Item[] = [
  'turn-start',
  'turn-cancel',
  'ask-reply',
  'query',
  'query.hints',
  'query.health',
  'start.request',
  'start.invocation',
  'start.history',
  'start.compact',
  'option.streaming',
  'option.model',
  'option.temperature',
  'session.id',
  'part.text',
  'part.reasoning',
  'part.tool-call',
  'turn-started',
  'turn-end',
  'message-start',
  'text-delta',
  'reasoning-delta',
  'message-end',
  'tool-start',
  'tool-args-delta',
  'tool-call',
  'tool-progress',
  'terminal-output',
  'usage',
  'usage.input',
  'usage.output',
  'usage.reasoning',
  'usage.cacheRead',
  'usage.total',
  'notice',
  'ask',
  'ask.approval',
  'ask.client',
  'command-reply',
]

/** What a client of this dialect can say and be shown. */
export const frontCapabilities = capabilities({
  full: [
    ...BOTH,
    'session-clear',
    'start.agent',
    'start.clientTools',
    'option.tools',
    'option.effort',
    'option.systemPrompt',
    'option.outputSchema',
    'part.tool-reply',
    'turn-accepted',
    'ask.tool',
    'ask-settled',
  ],
  partial: ['part.image', 'part.audio', 'part.file', 'part.data', 'part.diff', 'message-retract', 'tool-end'],
})

/** What an agent of this dialect can be told and can say. */
export const backCapabilities = capabilities({
  full: [...BOTH, 'tool-end', 'agent-ready', 'session-bound', 'ask-settled', 'part.image', 'part.audio', 'part.file'],
  partial: ['option.systemPrompt', 'option.tools', 'option.outputSchema', 'part.data', 'part.diff', 'part.tool-reply'],
})
