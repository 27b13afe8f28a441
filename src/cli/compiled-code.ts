/** The first and the last version of V8 that have a flag, 13.6 as 136: an unknown flag is an error on stderr. */
type Versions = readonly [first: number, last: number]

/** The flag for collections in idle times that give no memory back: Node.js 24 and 25. */
const KEEPS_PAGES: Versions = [136, 141]

/** The flags for the time before such a collection, where there is no other: Node.js 26. */
const PUTS_OFF: Versions = [146, 146]

/** The flag for the calls before a function is optimized: Node.js 24 to 26. */
const COUNTS_CALLS: Versions = [136, 146]

/**
 * The time after which V8 has collected what start-up left, in milliseconds. It does so after 8 to 10 s, without turns. That
 * of Node.js 26 waits for 30 s first (`--gc-memory-reducer-start-delay-ms`).
 */
export const SETTLED_MS = isWithin(process.versions.v8, PUTS_OFF) ? 45_000 : 12_000

/** The number of full collections that a class survives without an object of it. */
const KEPT_COLLECTIONS = 1000

/** The free memory that a process may keep for the sake of its compiled code, and the garbage, in bytes. */
const KEPT_MEMORY = 100 * 2 ** 20
const KEPT_GARBAGE = 100 * 2 ** 20

/** The time between two looks at that memory, in milliseconds: shorter than V8 waits before it gives memory back. */
const LOOK_MS = 4000

/** V8's times before the first collection of an idle time and before each further one, in milliseconds. */
const USUAL_DELAYS = [30_000, 8000] as const

/** The longest such time, in milliseconds. */
const NEVER_MS = 2 ** 31 - 1

/** The processor time between two looks up to which a process counts as idle, in microseconds. */
const IDLE_MICROS = 100_000

/**
 * Keeps compiled code in times without turns. When a process has been idle for some seconds, V8 collects garbage and gives
 * back all the memory that it can. That includes the layouts of classes of which there is no object, such as turns, and the
 * 500 optimized functions that rely on them: the next thousand turns cost up to five times as much. Under these flags V8
 * collects as often, but keeps the layouts, and free pages of its heap. When those are many, V8 may give all of it back once.
 * Garbage of a very large answer, which V8 may leave for hours, is collected when the process is idle; that keeps layouts too.
 * That of Node.js 22 has only the flag that keeps layouts. `v8` is the version of V8.
 */
export async function keepCompiledCode(v8: string = process.versions.v8): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([import('node:v8'), import('node:vm')])
  const settled = outsideHeap()
  let reduces: boolean | undefined
  let least = process.memoryUsage().heapUsed
  let spent = process.cpuUsage()
  const look = (): void => {
    const { user, system } = process.cpuUsage(spent)
    spent = process.cpuUsage()
    least = Math.min(least, process.memoryUsage().heapUsed)
    if (user + system < IDLE_MICROS && process.memoryUsage().heapUsed - least > KEPT_GARBAGE) {
      // Node.js has no other way to have it done.
      setFlagsFromString('--expose-gc')
      runInNewContext('gc()')
      setFlagsFromString('--no-expose-gc')
      least = process.memoryUsage().heapUsed
    }
    const much = outsideHeap() - settled > KEPT_MEMORY
    if (much === reduces) return
    reduces = much
    for (const flag of reducerFlags(v8, much)) setFlagsFromString(flag)
  }
  // V8 reads these flags when a collection begins or is planned. When others of these collections change under way, it
  // ends the process.
  look()
  setFlagsFromString(`--retain-maps-for-n-gc=${KEPT_COLLECTIONS}`)
  setInterval(look, LOOK_MS).unref()
}

/**
 * Bounds the memory of V8's compilers. The C library cannot give it back afterwards, because memory in use lies between.
 * TurboFan optimizes one function at a time: four at once take 80 MB. Maglev frees its memory with each function. By itself it
 * leaves that to another thread, and up to 440 functions with 57 MB wait for that thread while a gateway warms up.
 */
export async function boundCompilers(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--concurrent-turbofan-max-threads=1')
  setFlagsFromString('--no-maglev-destroy-on-background')
}

/** The calls after which V8 optimizes a function for good. By itself it waits for three times as many. */
const CALLS = 1000

/**
 * Has V8 optimize functions sooner. Most functions of a gateway are called once a turn, so that by itself V8 is done after
 * some 10,000 turns; until then a turn costs up to three times as much. `v8` is the version of V8.
 */
export async function compileSooner(v8: string = process.versions.v8): Promise<void> {
  if (!isWithin(v8, COUNTS_CALLS)) return
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString(`--invocation-count-for-turbofan=${CALLS}`)
}

/** The flags by which V8 gives memory back in idle times (`gives`), or does not. */
function reducerFlags(v8: string, gives: boolean): string[] {
  if (isWithin(v8, KEEPS_PAGES)) return [`--${gives ? '' : 'no-'}memory-reducer-favors-memory`]
  if (!isWithin(v8, PUTS_OFF)) return []
  const [begin, again] = gives ? USUAL_DELAYS : [NEVER_MS, NEVER_MS]
  return [`--gc-memory-reducer-start-delay-ms=${begin}`, `--memory-reducer-delay-ms=${again}`]
}

function isWithin(v8: string, [first, last]: Versions): boolean {
  const [major, minor] = v8.split('.').map(Number)
  const version = major! * 10 + minor!
  return version >= first && version <= last
}

/** The resident memory that is not in the heap, in bytes: the program, and what V8 and the C library keep for later. */
function outsideHeap(): number {
  const { rss, heapTotal, external } = process.memoryUsage()
  return rss - heapTotal - external
}
