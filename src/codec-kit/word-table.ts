/** The values of words of a wire. Any text may be looked up in it; other words have no value. */
export interface WordTable<V> extends ReadonlyMap<string, V> {
  get(word: unknown): V | undefined
  has(word: unknown): boolean
}

/** Makes the table of these words. Unlike the object itself, it has no inherited ones such as `constructor`. */
export function wordTable<V>(values: Readonly<Record<string, V>>): WordTable<V> {
  return new Map(Object.entries(values))
}
