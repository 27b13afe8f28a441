import * as v from 'valibot'

const schema = v.object({
  model: v.optional(v.pipe(v.string('must be text.'), v.minLength(1, 'must not be empty.'))),
  token_limit: v.optional(
    v.picklist(['max_tokens', 'max_completion_tokens'], 'must be max_tokens or max_completion_tokens.'),
  ),
  stream_usage: v.optional(v.boolean('must be true or false.')),
  reasoning_effort: v.optional(v.boolean('must be true or false.')),
  store: v.optional(v.boolean('must be true or false.')),
})

/**
 * An agent's own settings: `model` is the model of a turn that names none; `token_limit` is the member that the server
 * knows for it (`max_completion_tokens` by default; older servers know `max_tokens`); `stream_usage: false` leaves out
 * `stream_options`, which some servers refuse; `reasoning_effort: false` leaves out the effort, which servers refuse whose
 * models do not reason. `store: true` lets a server of the Responses API keep what it answers.
 */
export type Options = v.InferOutput<typeof schema>

/** The options as the configuration checks them. */
export const options = { schema, keys: ['model', 'token_limit', 'stream_usage', 'reasoning_effort', 'store'] } as const
