import * as v from 'valibot'

const Id = v.pipe(v.string(), v.nonEmpty())

/** `system` / `init`: a turn begins. */
export const Init = v.looseObject({
  session_id: Id,
  model: v.optional(v.string()),
  claude_code_version: v.optional(v.string()),
})

/** A block of a whole message of the model. */
export const Block = v.looseObject({
  type: v.string(),
  text: v.optional(v.string()),
  thinking: v.optional(v.string()),
  signature: v.optional(v.string()),
  id: v.optional(v.string()),
  name: v.optional(v.string()),
})

/** An `assistant` line: blocks of a message of the model. */
export const Assistant = v.looseObject({
  message: v.looseObject({ id: v.optional(v.string()), content: v.array(Block) }),
  is_api_error_message: v.optional(v.boolean()),
})

/** A `user` line: results of tools, or a text that the CLI put into the conversation. */
export const User = v.looseObject({
  message: v.looseObject({
    content: v.union([
      v.string(),
      v.array(
        v.looseObject({
          type: v.string(),
          text: v.optional(v.string()),
          tool_use_id: v.optional(v.string()),
          is_error: v.optional(v.nullable(v.boolean())),
        }),
      ),
    ]),
  }),
  isReplay: v.optional(v.boolean()),
})

/** The event of a `stream_event` line. */
export const StreamEvent = v.variant('type', [
  v.looseObject({ type: v.literal('message_start'), message: v.looseObject({ id: v.optional(v.string()) }) }),
  v.looseObject({ type: v.literal('content_block_start'), index: v.number(), content_block: Block }),
  v.looseObject({
    type: v.literal('content_block_delta'),
    index: v.number(),
    delta: v.looseObject({
      type: v.string(),
      text: v.optional(v.string()),
      thinking: v.optional(v.string()),
      signature: v.optional(v.string()),
      partial_json: v.optional(v.string()),
    }),
  }),
  v.looseObject({ type: v.literal('content_block_stop'), index: v.number() }),
  v.looseObject({ type: v.literal('message_delta'), usage: v.optional(v.unknown()) }),
  v.looseObject({ type: v.literal('message_stop') }),
])

/** The types of the events of a stream. */
export const EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
])

/** `system` / `api_retry`: a model call failed, and is made again. */
export const ApiRetry = v.looseObject({
  attempt: v.number(),
  max_retries: v.number(),
  retry_delay_ms: v.optional(v.number()),
  error_status: v.optional(v.nullable(v.number())),
  error: v.optional(v.string()),
})

/** A `result` line: the end of a turn. */
export const Result = v.looseObject({
  subtype: v.string(),
  is_error: v.optional(v.boolean()),
  result: v.optional(v.string()),
  errors: v.optional(v.array(v.string())),
  stop_reason: v.optional(v.nullable(v.string())),
  terminal_reason: v.optional(v.string()),
  api_error_status: v.optional(v.nullable(v.number())),
  total_cost_usd: v.optional(v.unknown()),
  modelUsage: v.optional(v.record(v.string(), v.unknown())),
  model_usage_since_last_result: v.optional(v.record(v.string(), v.unknown())),
})

/** The end of a turn. */
export type Result = v.InferOutput<typeof Result>

/** A `control_request` of the agent. */
export const ControlRequest = v.looseObject({
  request_id: v.string(),
  request: v.looseObject({ subtype: v.string() }),
})

/** The request `can_use_tool`. */
export const CanUseTool = v.looseObject({
  tool_name: v.string(),
  input: v.looseObject({}),
  tool_use_id: v.optional(v.string()),
  description: v.optional(v.string()),
  decision_reason: v.optional(v.string()),
  permission_suggestions: v.optional(v.nullable(v.array(v.looseObject({ type: v.optional(v.string()) })))),
})

/** The arguments of the tool that asks the user. */
export const Questions = v.looseObject({
  questions: v.array(
    v.looseObject({
      question: v.string(),
      header: v.optional(v.string()),
      options: v.optional(v.array(v.looseObject({ label: v.string() }))),
      multiSelect: v.optional(v.boolean()),
    }),
  ),
})

/** The request `elicitation`: a question of an MCP server. */
export const Elicitation = v.looseObject({ message: v.string(), url: v.optional(v.string()) })

const text = v.optional(v.fallback(v.optional(v.string()), undefined))

/** A model that the agent can be set to. */
export const Model = v.looseObject({ value: v.string(), displayName: text, description: text })

/** A slash command of the agent. */
export const Command = v.looseObject({ name: v.string(), description: text, argumentHint: text })

const list = v.optional(v.fallback(v.optional(v.array(v.unknown())), undefined))

/** The answer to `initialize`. */
export const Greeting = v.fallback(v.looseObject({ models: list, commands: list, current_permission_mode: text }), {})
export type Greeting = v.InferOutput<typeof Greeting>
