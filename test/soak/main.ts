/**
 * Many turns on one gateway, then what it holds: `node test/soak/main.ts [TURNS]` (10 000 when absent). Prints one table;
 * exits with 1 when a turn has no end, something has stayed, or the gateway has logged an error.
 */
import { Progress } from '../../src/cli/progress.ts'
import { PIPE_FILES } from '../hostile/served.ts'
import { type Holding, soak } from './soak.ts'

const WARM = 400
const TURNS = Number(process.argv[2] ?? 10_000)
const MIB = 1024 * 1024
/** What memory may vary by from one half to the next: what the runtime collects, it does not give back at once. */
const SLACK = 64 * MIB
/** What descriptors and resources may vary by: connections that are just being closed. */
const SLACK_OF_COUNTS = 2
/** Before, the pipes of one agent may not have been made again. */
const SLACK_OF_FILES = SLACK_OF_COUNTS + PIPE_FILES

const progress = new Progress()
const { before, middle, after, seconds, told, kept, errors } = await soak(TURNS, WARM, progress.show)
progress.end()
const row = (name: string, { rss, files, children, resources }: Holding): string =>
  `${name.padEnd(8)}${(rss / MIB).toFixed(1).padStart(10)} MiB${String(files).padStart(8)} files${String(children).padStart(4)} agents${String(resources).padStart(4)} timers and sockets`
const list = (counts: Iterable<[string, number]>): string =>
  [...counts].map(([what, count]) => `${what} ${count}`).join(', ')
process.stdout.write(`${TURNS} turns in ${seconds.toFixed(1)} s, after ${WARM} to warm up
clients: ${list(told)}
record:  ${list(Object.entries(kept))}
${row('before', before)}\n${row('middle', middle)}\n${row('after', after)}\n`)
for (const line of errors.slice(0, 5)) process.stdout.write(`log: ${line}\n`)
const grown =
  after.rss - middle.rss > SLACK ||
  after.files > before.files + SLACK_OF_FILES ||
  after.resources > before.resources + SLACK_OF_COUNTS
if (grown || kept['none'] !== undefined || errors.length > 0) {
  process.stdout.write('FAILED: something has stayed, a turn has no end, or the gateway has logged an error\n')
  process.exitCode = 1
}
