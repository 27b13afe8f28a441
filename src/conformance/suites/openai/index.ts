import type { ProtocolSuites } from '../../kit/index.ts'
import { chat } from './chat/index.ts'
import { responses } from './responses/index.ts'

/** The tests of the APIs of OpenAI, which most servers of models have. */
export const conformance: ProtocolSuites = { suites: { chat, responses } }
