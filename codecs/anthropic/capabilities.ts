import { FILES, TEXT_TURN } from '../../src/codec-kit/index.ts'
import { type Capabilities, capabilities } from '../../src/contract/index.ts'
import type { Item } from '../../src/model/index.ts'

/** The items that both a client and a server can express. */
const BOTH: readonly Item[] = [
  ...TEXT_TURN,
  'ask-reply',
  'start.clientTools',
  'start.user',
  'option.streaming',
  'option.model',
  'option.topP',
  'option.maxTokens',
  'option.stop',
  'option.systemPrompt',
  'option.outputSchema',
  'reasoning-delta',
  'reasoning-end',
  'part.text',
  'ask',
  'ask.tool',
  'usage',
  'usage.input',
  'usage.output',
  'usage.cacheRead',
  'usage.cacheWrite',
  'usage.reasoning',
  'tool.executor',
]

/** A client says all of a request, or asks for the models; it sees text, reasoning, and the calls of all tools. */
export const frontCapabilities: Capabilities = capabilities({
  full: [
    ...BOTH,
    'option.temperature',
    'option.effort',
    'option.toolChoice',
    'option.parallelTools',
    'turn-cancel',
    'turn-accepted',
    'turn-parked',
    'start.request',
    'start.agent',
    'start.once',
    'session.id',
    'query',
    'query.agents',
    'command-reply',
    'part.tool-call',
    'part.tool-reply',
  ],
  partial: [
    // User messages right before the last one are part of its input.
    'start.history',
    // It sends them, and is sent none.
    ...FILES,
    'part.data',
    // It cannot read seals of other providers.
    'part.reasoning',
    'reasoning.seal',
    // Calls of the client's own tools reach it when they are complete, the agent's own as those of a server.
    'tool-start',
    'tool-args-delta',
    'tool-call',
    'tool-end',
    'ask-settled',
    // Pages, and what its own provider has cited.
    'citation',
    'message.phase',
    'end.stop',
    // It adds the others up.
    'usage.total',
    'fault.code',
    'foreign',
    'ext',
    'part.ext',
  ],
})

/** A server takes the same request, with the whole conversation in it, and gives the same answer. */
export const backCapabilities: Capabilities = capabilities({
  full: [
    ...BOTH,
    'start.history',
    'turn-cancel',
    'turn-steer',
    'tool-start',
    'tool-args-delta',
    'tool-call',
    'tool-end',
  ],
  partial: [
    // Its temperatures end at 1, and its efforts begin at low.
    'option.temperature',
    'option.effort',
    // Without tools there is no choice of tools.
    'option.toolChoice',
    'option.parallelTools',
    ...FILES,
    'part.data',
    // Only what it has sealed itself is sent back.
    'part.reasoning',
    'reasoning.seal',
    'part.tool-call',
    'part.tool-reply',
    // Pages, and what its own provider has cited.
    'citation',
    'message.phase',
    'end.stop',
    'fault.code',
    'foreign',
    'ext',
    'part.ext',
  ],
})
