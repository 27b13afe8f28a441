import * as v from 'valibot'
import { wireId } from '../../src/codec-kit/index.ts'
import { isBase64 } from './wire.ts'

/** Schemas of the wire's messages. All are loose: unknown fields are kept by the caller as raw JSON. */

const count = v.pipe(v.number(), v.finite())
const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema))
const content = maybe(v.array(v.looseObject({})))

/** The codec's own keys of an agent's configuration. */
export const Options = v.strictObject({
  /** The secret of `hello`: itself, or the name of the gateway's environment variable that holds it. */
  token: v.optional(v.union([v.string(), v.strictObject({ env: v.string() })])),
})
/** The codec's own part of an agent's configuration. */
export type Options = v.InferOutput<typeof Options>

/** Reply to one command. */
export const Response = v.looseObject({
  id: v.optional(v.string()),
  success: v.boolean(),
  error: maybe(v.string()),
  data: v.optional(v.unknown()),
})
/** Reply to one command, as it was read. */
export type Response = v.InferOutput<typeof Response>

/** `data` of the reply to `hello`. */
export const HelloData = v.looseObject({
  protocol_version: v.number(),
  version: maybe(v.string()),
  model: maybe(v.string()),
})

/** `turn_start`: a model call begins. */
export const TurnStart = v.looseObject({ step: count })
/** `user_message` and `assistant_message`; their content is read from its raw text. */
export const MessageEvent = v.looseObject({ content })
/** A message that is nothing but its type: `assistant_start`, `done`. */
export const Bare = v.looseObject({})
/** `text_delta`: a piece of the answer. */
export const TextDelta = v.looseObject({ delta: v.string() })
/** `tool_use_start`: the model begins to write a call. */
export const ToolUseStart = v.looseObject({ id: wireId, name: v.string() })
/** `tool_use_args`: a piece of the arguments of a call. */
export const ToolUseArgs = v.looseObject({ id: wireId, delta: v.string() })
/** `tool_use_end`: the arguments of a call are whole. */
export const ToolUseEnd = v.looseObject({ id: wireId })
/** `tool_call`: a whole call; its arguments are sliced from the raw text. */
export const ToolCall = v.looseObject({ id: wireId, name: v.string(), args: v.optional(v.unknown()) })
/** `tool_progress`: a raw piece of the output of a tool. */
export const ToolProgress = v.looseObject({ id: wireId, text: v.string() })
/** `tool_result`: a tool has ended. */
export const ToolResult = v.looseObject({ id: wireId, is_error: maybe(v.boolean()), content })
/** `turn_end`: a model call is over. */
export const TurnEnd = v.looseObject({ stop: maybe(v.string()) })
/** `error`: what went wrong, for the user. One without words is a failure all the same. */
export const ErrorEvent = v.looseObject({ message: v.fallback(v.string(), 'The agent did not say what went wrong.') })
/** `compact_done`: the end of a compaction, whatever it says of it. */
export const CompactDone = v.looseObject({ summary: v.fallback(v.string(), '') })
/** `ext_notify`: an extension says something. */
export const Notify = v.looseObject({ message: v.string() })
/** `ext_display`: an extension shows something. */
export const Display = v.looseObject({ text: v.string() })

const unchecked = v.optional(v.unknown())
/** `usage`: tokens and cost, of which each is read by itself. `reasoning` came with newer versions. */
export const UsageEvent = v.looseObject({
  input: unchecked,
  output: unchecked,
  cache_read: unchecked,
  cache_write: unchecked,
  cost_usd: unchecked,
  reasoning: unchecked,
})

/** `data` of the reply to `get_state`. */
export const StateData = v.looseObject({
  provider: maybe(v.string()),
  model: maybe(v.string()),
  cwd: maybe(v.string()),
  message_count: maybe(count),
  busy: maybe(v.boolean()),
  usage: v.optional(v.unknown()),
})

/** `data` of the reply to `get_models`. */
export const ModelsData = v.looseObject({
  models: maybe(
    v.array(
      v.looseObject({
        id: v.string(),
        provider: maybe(v.string()),
        context_window: maybe(count),
        max_output: maybe(count),
        reasoning: maybe(v.boolean()),
      }),
    ),
  ),
})

/** `data` of the reply to `get_messages`. Messages are read from their raw text. */
export const MessagesData = v.looseObject({ messages: maybe(v.array(v.looseObject({ role: v.string(), content }))) })

/** The command `prompt`. */
export const Prompt = v.looseObject({
  message: maybe(v.string('must be a string')),
  images: maybe(
    v.array(
      v.looseObject(
        {
          mime_type: maybe(v.string('must be a string')),
          data: maybe(v.pipe(v.string('must be a string'), v.check(isBase64, 'is not base64'))),
        },
        'must be an object',
      ),
      'must be an array',
    ),
  ),
})

/** The command `set_model`. */
export const SetModel = v.looseObject({ model: v.string('must be a string') }, 'must be a string')
