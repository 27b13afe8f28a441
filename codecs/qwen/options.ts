import * as v from 'valibot'

/** The shipped dialect has no keys of its own: its agents are configured by their arguments. */
export const optionsSchema = v.strictObject({})

/** The codec's own keys of an agent's configuration, validated. */
export type Options = v.InferOutput<typeof optionsSchema>

/** The names of these keys. */
export const optionKeys: readonly string[] = Object.keys(optionsSchema.entries)
