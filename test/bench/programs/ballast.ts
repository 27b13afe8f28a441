/**
 * Loaded into a gateway before it starts (`--import`): makes it hold so many MB (BENCH_BALLAST_MB) as if long sessions
 * had grown it, and keeps in the file BENCH_STALLS when and for how long its event loop was held each time that a
 * process was started: by starting it, or by telling the starter to.
 */
import childProcess, { type ChildProcess } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const held: Buffer[] = []
for (let mb = 0; mb < Number(process.env['BENCH_BALLAST_MB']); mb += 1) held.push(Buffer.alloc(1024 * 1024, mb + 1))

const stalls: { at: number; ms: number }[] = []

/** The same function, which notes how long each call of it took. */
function noted<A extends unknown[], R>(run: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    const begin = performance.now()
    const result = run(...args)
    stalls.push({ at: Date.now(), ms: performance.now() - begin })
    return result
  }
}

const spawn = noted(childProcess.spawn as (...args: unknown[]) => ChildProcess)
childProcess.spawn = ((...args: unknown[]) => {
  const child = spawn(...args)
  const { stdin } = child
  // Whatever is written to the starter is an order.
  const isStarter = child.spawnargs.some((arg) => arg.endsWith('starter.cjs'))
  if (isStarter && stdin) stdin.write = noted(stdin.write.bind(stdin) as (...args: unknown[]) => boolean)
  return child
}) as typeof childProcess.spawn
syncBuiltinESMExports()
setInterval(() => {
  // Whole or not at all, for whoever reads it.
  const file = process.env['BENCH_STALLS']!
  writeFileSync(`${file}.new`, JSON.stringify({ stalls, held: held.length }))
  renameSync(`${file}.new`, file)
}, 200).unref()
