/** For files of tests that share a process: none leaves its clock or its timers to the next. */
import { afterAll } from 'vitest'

interface Clock {
  setTimeout: typeof setTimeout
  hrtime: typeof process.hrtime
}

/** The clock that the process began with; this module is loaded anew for each file. */
const CLOCK = Symbol.for('turnpike.test.clock')
const shared = globalThis as { [CLOCK]?: Clock }
shared[CLOCK] ??= { setTimeout: globalThis.setTimeout, hrtime: process.hrtime }
const { setTimeout: real, hrtime } = shared[CLOCK]

if (globalThis.setTimeout !== real || process.hrtime !== hrtime) {
  throw new Error('An earlier file has left a faked clock. A spy on a faked one brings it back when it is restored.')
}

// The limits of turns that a file leaves would fire in a later one.
const left = new Set<NodeJS.Timeout>()
globalThis.setTimeout = Object.defineProperties((...args: Parameters<typeof real>) => {
  const timer = real(...args)
  left.add(timer)
  return timer
}, Object.getOwnPropertyDescriptors(real)) as typeof real

afterAll(() => {
  globalThis.setTimeout = real
  for (const timer of left) clearTimeout(timer)
})
