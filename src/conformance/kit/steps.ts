import type { JsonRecord, SeenLine } from './suite.ts'

/** A step or reaction that writes an object as one line. */
export function writes(object: JsonRecord): { readonly write: string } {
  return { write: `${JSON.stringify(object)}\n` }
}

/** A step that ends the agent's input. */
export const END = { end: true } as const

/** A step that waits for any line. */
export const ANY = { until: () => true } as const

/** A step that waits for a line of one of these types. */
export function untilType(...types: readonly unknown[]): { readonly until: (line: SeenLine) => boolean } {
  return { until: ({ object }) => types.includes(object?.['type']) }
}
