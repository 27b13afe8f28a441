import * as v from 'valibot'
import { ownOptions } from '../../src/codec-kit/index.ts'

const schema = v.object({
  model: v.optional(v.pipe(v.string('must be text.'), v.minLength(1, 'must not be empty.'))),
  max_tokens: v.optional(
    v.pipe(v.number('must be a number.'), v.integer('must be a whole number.'), v.minValue(1, 'must be at least 1.')),
  ),
  thinking: v.optional(
    v.variant(
      'type',
      [
        v.looseObject({ type: v.literal('adaptive') }),
        v.looseObject({
          type: v.literal('enabled'),
          budget_tokens: v.pipe(
            v.number('must be a number.'),
            v.integer('must be a whole number.'),
            v.minValue(1024, 'must be at least 1024.'),
          ),
        }),
      ],
      'must be { type: adaptive } or { type: enabled, budget_tokens: … }.',
    ),
  ),
  prompt_caching: v.optional(v.boolean('must be true or false.')),
})

/**
 * An agent's own settings: `model` is the model of a turn that names none, `max_tokens` the limit of an answer that has
 * none (8192 by default); `thinking`, as the API has it, has the model think; `prompt_caching` has the provider cache the conversation of every request.
 */
export type Options = v.InferOutput<typeof schema>

/** The options as the configuration checks them. */
export const options = ownOptions(schema)
