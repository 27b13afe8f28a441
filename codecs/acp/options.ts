import * as v from 'valibot'

const text = v.pipe(v.string('must be text.'), v.minLength(1, 'must not be empty.'))

/** The codec's own keys of an agent's configuration. */
export const Options = v.strictObject({
  /** The id of the way to log in that is chosen at the start (`authenticate`); absent: the agent is logged in already. */
  auth: v.optional(text),
})

/** The codec's own keys of an agent's configuration, validated. */
export type Options = v.InferOutput<typeof Options>
