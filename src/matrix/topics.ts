import type { Item } from '../model/index.ts'

/** The topics of the matrix, each with its items. */
export const TOPICS = {
  text: ['part.text', 'message-start', 'message-end'],
  streaming: ['text-delta'],
  reasoning: ['reasoning-delta', 'part.reasoning'],
  'tool calls': ['tool-call'],
  'tool results': ['tool-end'],
  'tool progress': ['tool-start', 'tool-args-delta', 'tool-progress'],
  'client tools': ['start.clientTools', 'ask.tool'],
  approvals: ['ask', 'ask.approval', 'ask-reply'],
  'questions to the user': ['ask.input'],
  images: ['part.image'],
  attachments: ['part.audio', 'part.file'],
  directives: ['directive'],
  annotations: ['notice', 'terminal-output', 'plan'],
  usage: ['usage', 'usage.input', 'usage.output', 'usage.total'],
  'cached tokens': ['usage.cacheRead', 'usage.cacheWrite'],
  costs: ['usage.costUsd'],
  'system prompt': ['option.systemPrompt'],
  'model choice': ['option.model'],
  'answer schema': ['option.outputSchema'],
  'time limits': ['option.totalMs'],
  locale: ['option.locale'],
  'privacy tier': ['start.environment'],
  idempotency: ['start.once'],
  sessions: ['session.id', 'session.conversation', 'session.channel', 'session.name'],
  cancel: ['turn-cancel'],
  commands: ['start.invocation', 'start.compact'],
  'unknown fields': ['ext', 'foreign'],
} as const satisfies Readonly<Record<string, readonly Item[]>>

/** The name of a topic. */
export type Topic = keyof typeof TOPICS
