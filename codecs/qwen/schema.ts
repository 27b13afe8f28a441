import * as v from 'valibot'

/** Schemas of the wire's messages. All are loose: unknown fields are kept by the caller as raw JSON. */

const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema))
const text = maybe(v.string())
/** An id as agents give it: a number is its digits, none at all the empty one. Items that share an id are distinguished. */
const WireId = v.pipe(
  v.optional(v.nullable(v.union([v.string(), v.number()])), null),
  v.transform((given) => (given === null ? '' : String(given))),
)
/** An id that nothing is found by. */
const anyId = v.optional(v.unknown())
const bag = maybe(v.looseObject({}))
const notes = maybe(v.array(v.looseObject({})))

/** An id that is not a string names nothing. */
const named = v.fallback(text, undefined)
/** The members by which any line may name its session and prompt. */
const where = { session_id: named, prompt_id: named }

const completion = {
  ...where,
  object: v.string(),
  id: anyId,
  created: maybe(v.number()),
  model: text,
  system_fingerprint: v.optional(v.unknown()),
  metadata: bag,
  usage: v.optional(v.unknown()),
  annotations: notes,
}

/** `chat.completion`: one message, or what the first line says of the agent. */
export const Completion = v.looseObject({
  ...completion,
  choices: maybe(
    v.array(
      v.looseObject({
        index: maybe(v.number()),
        message: maybe(
          v.looseObject({
            role: text,
            content: text,
            annotations: notes,
            tool_calls: maybe(
              v.array(
                v.looseObject({
                  id: WireId,
                  type: text,
                  function: v.looseObject({ name: v.string(), arguments: v.optional(v.unknown()) }),
                }),
              ),
            ),
          }),
        ),
        finish_reason: text,
      }),
    ),
  ),
})
export type Completion = v.InferOutput<typeof Completion>

/** `chat.completion.chunk`: a piece of a message. */
export const Chunk = v.looseObject({
  ...completion,
  choices: maybe(
    v.array(
      v.looseObject({
        index: maybe(v.number()),
        delta: maybe(
          v.looseObject({
            role: text,
            content: text,
            annotations: notes,
            tool_calls: maybe(
              v.array(
                v.looseObject({
                  index: maybe(v.number()),
                  id: maybe(v.union([v.string(), v.number()])),
                  type: text,
                  function: maybe(v.looseObject({ name: text, arguments: text })),
                }),
              ),
            ),
          }),
        ),
        finish_reason: text,
      }),
    ),
  ),
})
export type Chunk = v.InferOutput<typeof Chunk>

/** The description of the agent in the first completion, and an error in it. */
export const Metadata = v.looseObject({
  protocol_version: text,
  input_format: text,
  output_format: text,
  error: v.optional(v.unknown()),
  control_errors: v.optional(v.unknown()),
})

/** `x-qwen-terminal` as a line: output with text of its own. */
export const Terminal = v.looseObject({
  ...where,
  type: v.string(),
  channel: text,
  source: text,
  text: v.string(),
})
/** `x-qwen-tool-display`. What it shows is read from the raw text. */
export const ToolDisplay = v.looseObject({
  ...where,
  type: v.string(),
  tool_call_id: WireId,
  status: v.string(),
  result_display: v.optional(v.unknown()),
})
/** `x-qwen-thought`. */
export const Thought = v.looseObject({ ...where, type: v.string(), subject: text, description: text })
/** `x-qwen-session-event`. */
export const SessionEvent = v.looseObject({
  ...where,
  type: v.string(),
  event: v.string(),
  message: text,
  metrics: v.optional(v.unknown()),
})
/** `result/command`. */
export const CommandResult = v.looseObject({
  ...where,
  type: v.string(),
  command: bag,
  result: v.looseObject({ type: v.string(), content: v.optional(v.unknown()), level: text }),
})

/** `result/command_hint`, `result/heartbeat`, `result/cancel`. */
export const StatusResult = v.looseObject({ ...where, type: v.string(), status: v.string(), message: text })

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
  response: v.looseObject({
    subtype: text,
    result: v.optional(v.unknown()),
    error: v.optional(v.unknown()),
  }),
})

/** An explicit command of a request. */
export const CommandJson = v.looseObject({
  kind: v.picklist(['slash', 'at'], 'must be "slash" or "at"'),
  path: v.pipe(v.array(v.string('must hold strings'), 'must be an array'), v.minLength(1, 'must not be empty')),
  args: v.optional(v.nullable(v.string('must be a string'))),
})

const optionFields = {
  temperature: v.optional(v.nullable(v.pipe(v.number('must be a number'), v.finite('must be a finite number')))),
  tool_overrides: v.optional(v.nullable(v.array(v.string('must hold strings'), 'must be an array'))),
  model: v.optional(v.nullable(v.string('must be a string'))),
}

const maybeString = v.optional(v.nullable(v.string('must be a string')))

/** The Qwen Chat Request. Its parts are read from their raw text. */
export const ChatRequest = v.looseObject({
  session_id: maybeString,
  prompt_id: maybeString,
  model: maybeString,
  tool_call_id: maybeString,
  continuation: v.optional(v.nullable(v.boolean('must be a boolean'))),
  tool_request: v.optional(v.unknown()),
  input: v.looseObject(
    {
      origin: v.optional(
        v.nullable(v.picklist(['user', 'tool_response', 'system'], 'must be user, tool_response or system')),
      ),
      parts: v.optional(v.unknown()),
      command: v.optional(v.nullable(CommandJson)),
    },
    'must be an object',
  ),
  options: v.optional(v.nullable(v.looseObject(optionFields, 'must be an object'))),
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
  temperature: optionFields.temperature,
  stream: v.optional(v.nullable(v.boolean('must be a boolean'))),
  reasoning_effort: maybeString,
  tools: v.optional(v.nullable(v.array(v.looseObject({}, 'must hold objects'), 'must be an array'))),
  response_format: v.optional(v.nullable(v.looseObject({}, 'must be an object'))),
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
  cursor: v.optional(v.nullable(v.pipe(v.number('must be a number'), v.finite('must be a finite number')))),
})
export type Instant = v.InferOutput<typeof Instant>
