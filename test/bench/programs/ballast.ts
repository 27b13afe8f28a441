/**
 * Loaded into a gateway before it starts (`--import`): makes it hold so many MB (BENCH_BALLAST_MB) as if long sessions
 * had grown it, and keeps how long each start of a process held its event loop in the file BENCH_STALLS.
 */
import childProcess from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const held: Buffer[] = []
for (let mb = 0; mb < Number(process.env['BENCH_BALLAST_MB']); mb += 1) held.push(Buffer.alloc(1024 * 1024, mb + 1))

const stalls: number[] = []
const spawn = childProcess.spawn
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  const begin = performance.now()
  const child = spawn(...args)
  stalls.push(performance.now() - begin)
  return child
}) as typeof spawn
syncBuiltinESMExports()
setInterval(() => {
  // Whole or not at all, for whoever reads it.
  const file = process.env['BENCH_STALLS']!
  writeFileSync(`${file}.new`, JSON.stringify({ stalls, held: held.length }))
  renameSync(`${file}.new`, file)
}, 200).unref()
