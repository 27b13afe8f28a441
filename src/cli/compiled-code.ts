/** The time after which V8 has collected what start-up left, in milliseconds. */
export const SETTLED_MS = 30_000

/** The delay of such a collection, in milliseconds: eleven days. */
const NEVER_MS = 1_000_000_000

/**
 * Keeps compiled code in times without turns. V8 collects garbage when a process has been idle for some seconds. Classes
 * of objects of which there are none then, such as turns, lose their optimized code, 500 functions, and the next thousand
 * turns cost up to five times as much. What memory needs is collected all the same.
 */
export async function keepCompiledCode(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  // A delay is only added to a time. V8 ends the process when other flags of these collections change under way.
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${NEVER_MS}`)
}
