/**
 * Three replicas under load, with faults at random: `npm run soak:replicas -- [SECONDS [SEED]]` (900 and 1 when absent).
 * Prints what became of all turns; exits with 1 when something is wrong.
 */
import { Progress } from '../../src/cli/progress.ts'
import { soakReplicas } from './replicas.ts'

const [seconds = '900', seed = '1'] = process.argv.slice(2)
const progress = new Progress()
const { requests, faults, kept, again, slowest, wrong } = await soakReplicas(
  Number(seconds),
  Number(seed),
  progress.show,
)
progress.end()
const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')
process.stdout.write(`${requests} requests in ${seconds} s, seed ${seed}; the slowest took ${(slowest.ms / 1000).toFixed(1)} s:
${slowest.attempts.map((attempt) => `  ${attempt}\n`).join('')}record:     ${list(kept)}
sent again: ${list(again)}
faults:     ${faults.length}
${faults.map((fault) => `  ${fault}\n`).join('')}`)
for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`)
if (wrong.length > 0) process.exitCode = 1
