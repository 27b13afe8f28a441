import * as v from 'valibot'
import { isBase64 } from './wire.ts'

/** Schemas of commands and responses. All are loose: unknown fields are kept by the caller as raw JSON. */

const count = v.pipe(v.number(), v.finite())
const content = v.nullish(v.array(v.looseObject({})))

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
  error: v.nullish(v.string()),
  data: v.optional(v.unknown()),
})
/** Reply to one command, as it was read. */
export type Response = v.InferOutput<typeof Response>

/** `data` of the reply to `hello`. */
export const HelloData = v.looseObject({
  protocol_version: v.number(),
  version: v.nullish(v.string()),
  model: v.nullish(v.string()),
})

/** `data` of the reply to `get_state`. */
export const StateData = v.looseObject({
  provider: v.nullish(v.string()),
  model: v.nullish(v.string()),
  cwd: v.nullish(v.string()),
  message_count: v.nullish(count),
  busy: v.nullish(v.boolean()),
  usage: v.optional(v.unknown()),
})

/** `data` of the reply to `get_models`. */
export const ModelsData = v.looseObject({
  models: v.nullish(
    v.array(
      v.looseObject({
        id: v.string(),
        provider: v.nullish(v.string()),
        context_window: v.nullish(count),
        max_output: v.nullish(count),
        reasoning: v.nullish(v.boolean()),
      }),
    ),
  ),
})

/** `data` of the reply to `get_messages`. Messages are read from their raw text. */
export const MessagesData = v.looseObject({
  messages: v.nullish(v.array(v.looseObject({ role: v.string(), content }))),
})

/** The command `prompt`. */
export const Prompt = v.looseObject({
  message: v.nullish(v.string('must be a string')),
  images: v.nullish(
    v.array(
      v.looseObject(
        {
          mime_type: v.nullish(v.string('must be a string')),
          data: v.nullish(v.pipe(v.string('must be a string'), v.check(isBase64, 'is not base64'))),
        },
        'must be an object',
      ),
      'must be an array',
    ),
  ),
})
