/** The values of words of a wire. Any value may be looked up in it: what is none of its words has no value. */
export interface WordTable<V> extends ReadonlyMap<string, V> {
  get(word: unknown): V | undefined
  has(word: unknown): boolean
}

/** The table of these words; in contrast to the object itself it has no others, such as `constructor`. */
export function wordTable<V>(values: Readonly<Record<string, V>>): WordTable<V> {
  return new Map(Object.entries(values))
}
