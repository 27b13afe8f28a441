import * as v from 'valibot'
import { ownOptions } from '../../src/codec-kit/index.ts'

const schema = v.object({
  streaming: v.optional(v.boolean('must be true or false.')),
  tenant: v.optional(v.pipe(v.string('must be text.'), v.minLength(1, 'must not be empty.'))),
  shell_kind: v.optional(v.pipe(v.string('must be text.'), v.minLength(1, 'must not be empty.'))),
})

/**
 * An agent's own settings: `streaming` asks the engine for the streaming profile, `tenant` is sent as
 * `auth.tenant_id`, `shell_kind` says which kind of shell the gateway is to the engine (`turnpike` by default).
 */
export type Options = v.InferOutput<typeof schema>

/** The options as the configuration checks them. */
export const options = ownOptions(schema)
