import * as v from 'valibot'

/**
 * An id as agents give it: a number becomes its digits, a missing id the empty one. Items that share an id are
 * distinguished.
 */
export const wireId = v.pipe(
  v.optional(v.nullable(v.union([v.string(), v.number()], 'must be a string')), null),
  v.transform((given) => (given === null ? '' : String(given))),
)
