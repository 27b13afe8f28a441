import type { Codec, StandardSchemaV1 } from '../contract/index.ts'

/** The codec's own keys of an agent's configuration: a schema of objects, and the keys that it names. */
export function ownOptions<O>(schema: StandardSchemaV1<O> & { readonly entries: object }): Codec<O>['options'] {
  return { schema, keys: Object.keys(schema.entries) }
}
