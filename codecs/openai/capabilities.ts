import { FILES, TEXT_TURN } from '../../src/codec-kit/index.ts'
import { type Capabilities, capabilities } from '../../src/contract/index.ts'
import type { Item } from '../../src/model/index.ts'

/** The items that both a client and a server can express. */
const BOTH: readonly Item[] = [
  ...TEXT_TURN,
  'ask-reply',
  'start.clientTools',
  'option.streaming',
  'option.model',
  'option.temperature',
  'option.topP',
  'option.maxTokens',
  'option.stop',
  'option.effort',
  'option.systemPrompt',
  'option.toolChoice',
  'option.parallelTools',
  'option.outputSchema',
  'reasoning-delta',
  'part.text',
  'part.reasoning',
  'ask',
  'ask.tool',
  'usage',
  'usage.input',
  'usage.output',
  'usage.total',
  'usage.cacheRead',
  'usage.cacheWrite',
  'usage.reasoning',
]

/** A client says all of a request, or asks for the models; it sees text, reasoning, refusals, and the calls of its own tools. */
export const frontCapabilities: Capabilities = capabilities({
  full: [
    ...BOTH,
    'turn-cancel',
    'turn-accepted',
    'turn-parked',
    'start.request',
    'start.agent',
    'start.user',
    'start.once',
    'session.id',
    'query',
    'query.agents',
    'command-reply',
    'fault.code',
    'tool.executor',
    'part.tool-call',
    'part.tool-reply',
  ],
  partial: [
    // User messages right before the last one are part of its input.
    'start.history',
    // It sends them, and is sent none.
    ...FILES,
    'part.data',
    // Calls of the client's own tools reach it; what the agent does with tools of its own does not.
    'tool-start',
    'tool-args-delta',
    'tool-call',
    'tool-end',
    'ask-settled',
    // Pages for all, files of its own for the Responses API.
    'citation',
    'message.phase',
    'end.stop',
    'ext',
    'part.ext',
  ],
})

/** A server takes the same request, with the whole conversation in it, and gives the same answer. */
export const backCapabilities: Capabilities = capabilities({
  full: [
    ...BOTH,
    'turn-cancel',
    'start.history',
    'part.data',
    'tool-start',
    'tool-args-delta',
    'tool-call',
    'tool-end',
    'turn-steer',
  ],
  // Names of files and URLs of some have no place.
  partial: [
    // Servers refuse long names.
    'start.user',
    ...FILES,
    'part.tool-call',
    'part.tool-reply',
    // Pages for all, files of its own for the Responses API.
    'citation',
    'message.phase',
    'end.stop',
    'fault.code',
    'ext',
    'part.ext',
  ],
})

/**
 * A server of the Responses API also reports the tools that it runs itself, and gives its reasoning in a form that can
 * be sent back to it.
 */
export const responsesBack: Capabilities = capabilities({
  full: [
    ...BOTH.filter((item) => item !== 'option.stop' && item !== 'part.reasoning'),
    'turn-cancel',
    'start.history',
    'part.data',
    'tool-start',
    'tool-args-delta',
    'tool-call',
    'tool-end',
    'turn-steer',
    'reasoning-end',
    'reasoning.seal',
    'tool.executor',
    'foreign',
  ],
  partial: [
    // Servers refuse long names.
    'start.user',
    ...FILES,
    // Only its own sealed reasoning goes back to it.
    'part.reasoning',
    'part.tool-call',
    'part.tool-reply',
    // Pages for all, files of its own for the Responses API.
    'citation',
    'message.phase',
    'end.stop',
    'fault.code',
    'ext',
    'part.ext',
  ],
})

/** A client of the Responses API sees also the phases of messages, sealed reasoning, tools of the agent, and its questions. */
export const responsesFront: Capabilities = capabilities({
  full: [
    ...BOTH.filter((item) => item !== 'option.stop'),
    'turn-cancel',
    'turn-follow',
    'turn-delete',
    'turn-accepted',
    'turn-parked',
    'start.request',
    'start.agent',
    'start.user',
    'start.once',
    'session.id',
    'query',
    'query.turn',
    'query.input',
    'command-reply',
    'fault.code',
    'tool.executor',
    'part.tool-call',
    'part.tool-reply',
    'reasoning-end',
    'reasoning.seal',
    'message.phase',
    'ask.approval',
  ],
  partial: [
    // User messages right before the last one are part of its input.
    'start.history',
    // It sends them, and is sent none.
    ...FILES,
    'part.data',
    // Tools of sub-agents, results that are no text, and events of another response have no place.
    'tool-start',
    'tool-args-delta',
    'tool-call',
    'tool-end',
    'ask-settled',
    'citation',
    'end.stop',
    'foreign',
    'ext',
    'part.ext',
  ],
})
