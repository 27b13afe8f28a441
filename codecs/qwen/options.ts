import * as v from 'valibot'
import { ownOptions } from '../../src/codec-kit/index.ts'

const schema = v.strictObject({
  /** Which output the agent is asked for, where its configured arguments do not say. */
  output: v.optional(v.picklist(['stream-json', 'stream-chunk-json']), 'stream-chunk-json'),
  /** The life of its process: as long as the session, or one turn, whose input is closed after the request. */
  lifetime: v.optional(v.picklist(['session', 'turn']), 'session'),
})

/** The codec's own keys of an agent's configuration, validated. */
export type Options = v.InferOutput<typeof schema>

/** The keys as the configuration checks them. */
export const options = ownOptions(schema)
