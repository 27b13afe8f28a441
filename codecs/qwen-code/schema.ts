import * as v from 'valibot'
import { wireId } from '../../src/codec-kit/index.ts'
import { isRecord, type ModelInfo } from '../../src/model/index.ts'

/** `system` / `init`: before every turn. */
export const SystemInit = v.looseObject({
  session_id: v.optional(v.string()),
  model: v.optional(v.string()),
  qwen_code_version: v.optional(v.string()),
})

/** `system` / `retry`: the model call is made again. */
export const SystemRetry = v.looseObject({
  data: v.looseObject({ preserveText: v.optional(v.boolean(), true) }),
})

/** An id that may be missing; one of another type is as good as none. */
const maybeId = v.fallback(v.optional(v.string()), undefined)

/** A member whose value decides nothing. */
const free = v.optional(v.unknown())
/** The members of every line. */
const line = { type: free, uuid: free, session_id: free, parent_tool_use_id: free }

const Block = v.looseObject({ type: v.string() })

/** One block of an `assistant` line; all blocks of a line are of one category. */
export const AssistantBlock = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({ type: v.literal('thinking'), thinking: v.string(), signature: v.optional(v.string(), '') }),
  v.looseObject({ type: v.literal('tool_use'), id: wireId, name: v.string() }),
])

/** `assistant`: a run of blocks of one category. */
export const Assistant = v.looseObject({
  ...line,
  message: v.looseObject({
    id: maybeId,
    type: free,
    role: free,
    model: free,
    content: v.array(Block),
    stop_reason: free,
    usage: free,
  }),
})

/** One block of a `user` line. */
export const UserBlock = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({
    type: v.literal('tool_result'),
    tool_use_id: wireId,
    is_error: v.optional(v.boolean(), false),
    content: v.optional(v.union([v.string(), v.array(Block)])),
  }),
])

/** `user`: results of tools, and texts that the CLI puts into the conversation itself. */
export const User = v.looseObject({
  ...line,
  message: v.looseObject({ role: free, content: v.union([v.string(), v.array(Block)]) }),
})

/** `content_block_delta`: a piece of a block. */
export const BlockDelta = v.looseObject({
  type: v.literal('content_block_delta'),
  index: v.number(),
  delta: v.variant('type', [
    v.looseObject({ type: v.literal('text_delta'), text: v.string() }),
    v.looseObject({ type: v.literal('thinking_delta'), thinking: v.string() }),
    v.looseObject({ type: v.literal('input_json_delta'), partial_json: v.string() }),
  ]),
})

/** The `event` of a `stream_event` line. */
export const StreamEvent = v.variant('type', [
  v.looseObject({ type: v.literal('message_start'), message: v.looseObject({ id: maybeId }) }),
  v.looseObject({
    type: v.literal('content_block_start'),
    index: v.number(),
    content_block: v.looseObject({ type: v.string(), id: wireId, name: v.optional(v.string()) }),
  }),
  BlockDelta,
  v.looseObject({ type: v.literal('content_block_stop') }),
  v.looseObject({ type: v.literal('message_stop') }),
  v.looseObject({ type: v.literal('tool_progress'), tool_use_id: wireId, content: v.unknown() }),
])
export type StreamEvent = v.InferOutput<typeof StreamEvent>

/** `stream_event`: a piece of an answer, or of the output of a tool. */
export const StreamLine = v.looseObject({ ...line, event: v.looseObject({ type: free }) })

/** `result`: the end of a turn. */
export const Result = v.looseObject({
  ...line,
  subtype: v.optional(v.string(), 'success'),
  session_id: v.optional(v.string()),
  is_error: v.optional(v.boolean(), false),
  duration_ms: free,
  result: v.optional(v.string()),
  usage: free,
  error: v.optional(v.looseObject({ message: v.optional(v.string()) })),
})
export type Result = v.InferOutput<typeof Result>

/** `control_request` of the CLI. */
export const ControlRequest = v.looseObject({
  request_id: v.union([v.string(), v.number()]),
  request: v.looseObject({ subtype: v.optional(v.string(), '') }),
})

/** The `request` of a `can_use_tool`. */
export const CanUseTool = v.looseObject({
  tool_name: v.string(),
  tool_use_id: wireId,
  input: v.custom<Record<string, unknown>>(isRecord),
  permission_suggestions: v.optional(
    v.nullable(v.array(v.looseObject({ type: v.optional(v.string()), label: v.optional(v.string()) }))),
  ),
})
export type CanUseTool = v.InferOutput<typeof CanUseTool>

/** The questions of the tool that asks the user. */
export const Questions = v.looseObject({
  questions: v.pipe(
    v.array(
      v.looseObject({
        question: v.string(),
        options: v.optional(v.array(v.looseObject({ label: v.string() })), []),
      }),
    ),
    v.minLength(1),
  ),
})
export type Questions = v.InferOutput<typeof Questions>

/** `control_response`, of either side. An error is a text or an object with one. */
export const ControlResponse = v.looseObject({
  response: v.looseObject({
    subtype: v.optional(v.string()),
    request_id: v.string(),
    error: v.optional(v.unknown()),
  }),
})

/** The answer to `initialize`. */
export const Initialized = v.looseObject({ session_id: v.optional(v.string()) })

/** The answer to `get_available_models`, as the models of the canonical answer. */
export const AvailableModels = v.object({
  models: v.array(
    v.union([
      v.pipe(
        v.string(),
        v.transform((id): ModelInfo => ({ id })),
      ),
      v.pipe(
        v.object({ id: v.string(), contextWindowSize: v.optional(v.pipe(v.number(), v.finite())) }),
        v.transform(
          ({ id, contextWindowSize: size }): ModelInfo => (size === undefined ? { id } : { id, contextWindow: size }),
        ),
      ),
    ]),
  ),
})

/** The `message` of a client's `user` line. A block that is no text has no other place than the prompt itself. */
export const ClientMessage = v.looseObject({ content: v.union([v.string(), v.array(v.unknown())]) })

/** The answer of a client to `can_use_tool`; one of another shape says nothing. */
export const Verdict = v.fallback(
  v.looseObject({
    behavior: v.optional(v.pipe(v.string(), v.toLowerCase()), ''),
    message: v.optional(v.string()),
    interrupt: v.optional(v.boolean(), false),
  }),
  { behavior: '', interrupt: false },
)
