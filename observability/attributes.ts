/**
 * Every attribute, event and value name that leaves in a span, in one place. GenAI names follow
 * semantic-conventions-genai v0.1.0 (in development, so they may move), HTTP and process names the general semantic
 * conventions; names of our own begin with `turnpike.`.
 */

import type { Stop } from '../src/model/index.ts'

/** Attribute names of spans. */
export const ATTR = {
  errorType: 'error.type',
  networkTransport: 'network.transport',

  httpMethod: 'http.request.method',
  httpMethodOriginal: 'http.request.method_original',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  urlFull: 'url.full',
  serverAddress: 'server.address',
  serverPort: 'server.port',

  executableName: 'process.executable.name',
  pid: 'process.pid',
  exitCode: 'process.exit.code',
  signal: 'turnpike.process.signal',
  restarts: 'turnpike.process.restarts',

  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  systemInstructions: 'gen_ai.system_instructions',

  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',

  turn: 'turnpike.turn',
  front: 'turnpike.front',
  back: 'turnpike.back',
  outcome: 'turnpike.outcome',
  link: 'turnpike.link',
  route: 'turnpike.route',
  /** The relation of a request to a turn that another request began. */
  share: 'turnpike.share',
  events: 'turnpike.events',
  /** Of a tool's span: the gateway observed the call and did not make it. */
  observed: 'turnpike.observed',
  losses: 'turnpike.losses',
  usageEstimated: 'turnpike.usage.estimated',
} as const

/** Attribute names of token counts, by the name of the count in the model. */
export const USAGE_ATTR = {
  input: 'gen_ai.usage.input_tokens',
  output: 'gen_ai.usage.output_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_write.input_tokens',
  total: 'turnpike.usage.total_tokens',
  costUsd: 'turnpike.usage.cost_usd',
} as const

/** The operation of a turn's span. */
export const INVOKE_AGENT = 'invoke_agent'
/** The operation of a tool's span. */
export const EXECUTE_TOOL = 'execute_tool'

/** Names of the gateway's own spans; the protocol follows the first two. */
export const SPAN = {
  decode: 'decode',
  encode: 'encode',
  route: 'route',
  queue: 'queue',
} as const

/** Names of span events. */
export const EVENT = {
  firstEvent: 'turnpike.first_event',
  loss: 'turnpike.loss',
  /** Followed by the name of the note. */
  note: 'turnpike.',
  moved: 'turnpike.fallback',
  /** Of a process that serves several turns: its handshake is done. */
  ready: 'turnpike.ready',
  end: 'turnpike.end',
} as const

/** Attribute names of span events. `ms` is milliseconds. */
export const EVENT_ATTR = {
  ms: 'turnpike.ms',
  eventType: 'turnpike.event.type',
  lossKind: 'turnpike.loss.kind',
  lossItem: 'turnpike.loss.item',
  lossField: 'turnpike.loss.field',
  lossWhy: 'turnpike.loss.why',
  lossCount: 'turnpike.loss.count',
  about: 'turnpike.about',
  outcome: 'turnpike.outcome',
  stop: 'turnpike.stop',
} as const

/** The value of `error.type` when no more specific value is known. */
export const OTHER = '_OTHER'

/** The finish reason of every stop; the conventions' own term when there is one. */
export const FINISH_REASON: Readonly<Record<Stop, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'max-tokens': 'length',
  'max-turns': 'max_turns',
  'tool-use': 'tool_call',
  refusal: 'refusal',
  'context-window': 'length',
  'max-budget': 'length',
  'content-filter': 'content_filter',
  aborted: 'aborted',
  error: 'error',
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'])

/** The method as attributes; an unknown one becomes `_OTHER`, so that clients cannot create span names. */
export function methodAttributes(method: string): Record<string, string> {
  return METHODS.has(method)
    ? { [ATTR.httpMethod]: method }
    : { [ATTR.httpMethod]: OTHER, [ATTR.httpMethodOriginal]: method }
}

/** The method as part of a span name. */
export function methodName(method: string): string {
  return METHODS.has(method) ? method : 'HTTP'
}
