import * as v from 'valibot'
import { wireId } from '../../src/codec-kit/index.ts'

/** Schemas of the wire's messages. All are loose: unknown fields are kept by the caller as raw JSON. */

const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema))
const text = maybe(v.string())
/** A member whose value decides nothing, or is read from its raw text. */
const free = v.optional(v.unknown())
const bag = maybe(v.looseObject({}))
const notes = maybe(v.array(v.looseObject({})))

/** An id that is not a string names nothing. */
const named = v.fallback(text, undefined)
/** The members by which any line may name its session and prompt. */
const where = { session_id: named, prompt_id: named }

const completion = {
  ...where,
  object: v.string(),
  id: free,
  created: maybe(v.number()),
  model: text,
  system_fingerprint: free,
  metadata: bag,
  usage: free,
  annotations: notes,
}
const choice = { index: maybe(v.number()), finish_reason: text }
const said = { role: text, content: text, annotations: notes }

/** One of the `tool_calls` of a message. */
export const ToolCall = v.looseObject({
  index: free,
  id: wireId,
  type: text,
  function: v.looseObject({ name: v.string(), arguments: free }),
})
/** A piece of a tool call. */
const CallPiece = v.looseObject({
  index: maybe(v.number()),
  id: maybe(v.union([v.string(), v.number()])),
  type: text,
  function: maybe(v.looseObject({ name: text, arguments: text })),
})

/** The `message` of a completion's choice. */
export const Message = v.looseObject({ ...said, tool_calls: maybe(v.array(ToolCall)) })
const Delta = v.looseObject({ ...said, tool_calls: maybe(v.array(CallPiece)) })

/** `chat.completion`: one message, or what the first line says of the agent. */
export const Completion = v.looseObject({
  ...completion,
  choices: maybe(v.array(v.looseObject({ ...choice, message: maybe(Message) }))),
})
/** `chat.completion.chunk`: a piece of a message. */
export const Chunk = v.looseObject({
  ...completion,
  choices: maybe(v.array(v.looseObject({ ...choice, delta: maybe(Delta) }))),
})

/** The description of the agent in the first completion, and an error in it. */
export const Metadata = v.looseObject({
  protocol_version: text,
  input_format: text,
  output_format: text,
  capabilities: free,
  error: free,
  control_errors: free,
})

/** `x-qwen-terminal` as a line: output with text of its own. */
export const Terminal = v.looseObject({ ...where, type: v.string(), channel: text, source: text, text: v.string() })
/** `x-qwen-tool-display`. What it shows is read from the raw text. */
export const ToolDisplay = v.looseObject({
  ...where,
  type: v.string(),
  tool_call_id: wireId,
  status: v.string(),
  result_display: free,
  confirmation: free,
  pending: free,
  timestamp: free,
})
/** `x-qwen-thought`. */
export const Thought = v.looseObject({ ...where, type: v.string(), subject: text, description: text })
/** `x-qwen-session-event`. */
export const SessionEvent = v.looseObject({
  ...where,
  type: v.string(),
  event: v.string(),
  message: text,
  metrics: free,
  level: free,
})
/** `result/command`. */
export const CommandResult = v.looseObject({
  ...where,
  type: v.string(),
  command: bag,
  result: v.looseObject({ type: v.string(), content: free, level: text }),
})

/** `result/command_hint`, `result/heartbeat`, `result/cancel`. */
export const StatusResult = v.looseObject({ ...where, type: v.string(), status: v.string(), message: text })
export type StatusResult = v.InferOutput<typeof StatusResult>
export const Hint = v.looseObject({ ...StatusResult.entries, trigger: free, suggestions: free })
export const Heartbeat = v.looseObject({ ...StatusResult.entries, ts: free })

/** A question of the agent; its details are read from the raw text, in either of their two shapes. */
export const ControlRequest = v.looseObject({
  ...where,
  type: v.string(),
  request_id: v.union([v.string(), v.number()]),
  subtype: v.string(),
  metadata: bag,
})

/** The answer of a client to it. */
export const ControlResponse = v.looseObject({
  type: v.string(),
  request_id: v.string(),
  response: v.looseObject({ subtype: text }),
})

/** An explicit command of a request. */
export const CommandJson = v.looseObject({
  kind: v.picklist(['slash', 'at'], 'must be "slash" or "at"'),
  path: v.pipe(v.array(v.string('must hold strings'), 'must be an array'), v.minLength(1, 'must not be empty')),
  args: maybe(v.string('must be a string')),
})

const maybeString = maybe(v.string('must be a string'))
const maybeNumber = maybe(v.pipe(v.number('must be a number'), v.finite('must be a finite number')))

/** The `options` of a request. */
export const ChatOptions = v.looseObject(
  {
    temperature: maybeNumber,
    tool_overrides: maybe(v.array(v.string('must hold strings'), 'must be an array')),
    model: maybeString,
  },
  'must be an object',
)

/** The Qwen Chat Request. Its parts are read from their raw text. */
export const ChatRequest = v.looseObject({
  session_id: maybeString,
  prompt_id: maybeString,
  model: maybeString,
  tool_call_id: maybeString,
  continuation: maybe(v.boolean('must be a boolean')),
  tool_request: free,
  input: v.looseObject(
    {
      origin: maybe(v.picklist(['user', 'tool_response', 'system'], 'must be user, tool_response or system')),
      parts: free,
      command: maybe(CommandJson),
    },
    'must be an object',
  ),
  options: maybe(ChatOptions),
})
export type ChatRequest = v.InferOutput<typeof ChatRequest>

/** The body of OpenAI's `/chat/completions`. Its messages are read from their raw text. */
export const OpenAiBody = v.looseObject({
  session_id: maybeString,
  prompt_id: maybeString,
  model: maybeString,
  messages: v.pipe(
    v.array(v.looseObject({ role: v.string('must be a string') }, 'must hold objects'), 'must be an array'),
    v.minLength(1, 'must not be empty'),
  ),
  temperature: maybeNumber,
  stream: maybe(v.boolean('must be a boolean')),
  reasoning_effort: maybeString,
  tools: maybe(v.array(v.looseObject({}, 'must hold objects'), 'must be an array')),
  response_format: maybe(v.looseObject({}, 'must be an object')),
})
export type OpenAiBody = v.InferOutput<typeof OpenAiBody>

/** `command_hint_request`, `command_hint_cancel`, `heartbeat_request`, `control/cancel`. */
export const Instant = v.looseObject({
  type: v.string(),
  session_id: maybeString,
  prompt_id: maybeString,
  request_id: maybeString,
  reason: maybeString,
  trigger: maybeString,
  text: maybeString,
  cursor: maybeNumber,
})
export type Instant = v.InferOutput<typeof Instant>
