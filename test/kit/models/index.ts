import { chat } from './chat.ts'
import { messages } from './messages.ts'
import type { ModelProtocol } from './protocol.ts'
import { responses } from './responses.ts'

export * from './protocol.ts'
export { type ModelServer, startModel } from './server.ts'

/** The protocols of models by name. */
export const MODELS: Readonly<Record<string, ModelProtocol>> = { chat, responses, messages }
