/** The time after which V8 has collected what start-up left, in milliseconds. It does so after 8 to 10 s, without turns. */
export const SETTLED_MS = 12_000

/** The number of full collections that a class survives without an object of it. */
const KEPT_COLLECTIONS = 1000

/**
 * Keeps compiled code in times without turns. When a process has been idle for some seconds, V8 collects garbage and gives
 * back all the memory that it can. That includes the layouts of classes of which there is no object, such as turns, and the
 * 500 optimized functions that rely on them: the next thousand turns cost up to five times as much. Under these flags V8
 * collects as often, but keeps the layouts.
 */
export async function keepCompiledCode(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  // V8 reads both when a collection begins. It ends the process when other flags of these collections change under way.
  setFlagsFromString('--no-memory-reducer-favors-memory')
  setFlagsFromString(`--retain-maps-for-n-gc=${KEPT_COLLECTIONS}`)
}
