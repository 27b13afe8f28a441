/**
 * `npm run bench`: measures every line of the table against its limit, interleaved, and writes the results.
 *   --rounds N        rounds (5)               --only NAME[,NAME]   groups or lines whose name begins so
 *   --quick           short loads, 2 rounds    --out FILE           FILE.json and FILE.md (bench-results in the folder)
 *   --compare FILE    fail when a line is worse than there by more than 10 %
 *   --peers           also lines against other gateways, installed into the folder of the run
 *   --noisy           report also when others use the machine
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { Progress } from '../../src/cli/progress.ts'
import { type Amounts, Bench, type Group, type Warming } from './bench.ts'
import { GROUPS } from './groups.ts'
import { lostShare } from './noise.ts'
import { startPeers } from './peers/index.ts'
import { median } from './statistics.ts'
import { markdown, type Results, regressions, rowOf, type Sample, shown } from './table.ts'

const FULL: Amounts = { ms: 600, times: 5, scale: 1 }
const QUICK: Amounts = { ms: 200, times: 2, scale: 0.1 }
/** More of the processors' time than this in others' hands, and figures say more of them than of us. */
const MOST_LOST = 0.1
const MOST_WORSE = 0.1
/** What the round to warm up does with each path: until V8 has compiled what is called often. */
const WARMING: Warming = { ms: 8000, leastTurns: 25_000, mostMs: 14_000 }

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    out: { type: 'string', default: 'bench-results' },
    compare: { type: 'string' },
    noisy: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
  },
})

/** True for a group or line that is asked for. */
function isWanted(text: string): boolean {
  const names = values.only?.split(',')
  return !names || names.some((name) => text.startsWith(name))
}

/** The groups that are asked for, and why others cannot be measured. */
async function wanted(bench: Bench): Promise<{ groups: Group[]; missing: readonly string[] }> {
  // A peer is installed for any of its lines.
  const isPeer = (name: string): boolean =>
    !values.only || values.only.split(',').some((one) => one.startsWith(name) || name.startsWith(one))
  const { groups, missing } = values.peers ? await startPeers(bench, isPeer) : { groups: [], missing: [] }
  const all = [...GROUPS, ...groups]
  return {
    groups: all.filter(({ name, lines }) => isWanted(name) || lines.some((line) => isWanted(line.name))),
    missing,
  }
}

async function measure(
  bench: Bench,
  groups: readonly Group[],
  rounds: number,
): Promise<[Map<string, Sample[]>, number[]]> {
  const { amounts } = bench
  const samples = new Map<string, Sample[]>()
  const lost: number[] = []
  const progress = new Progress()
  try {
    // Round 0 warms everything up and is thrown away; what it disturbs is no figure.
    const prepared = Promise.all(groups.map((group) => group.prepare?.(bench)))
    for (let round = 0; round <= rounds; round += 1) {
      lost.push(await lostShare())
      bench.warming = round === 0 && !values.quick ? WARMING : undefined
      bench.amounts = round === 0 ? { ...amounts, times: 1 } : amounts
      for (const group of groups) {
        if (group.once && round !== 1) continue
        progress.show(`round ${round} of ${rounds}: ${group.name}`)
        const found = await group.round(bench)
        if (round === 0) continue
        for (const { name } of group.lines) samples.set(name, [...(samples.get(name) ?? []), found[name]!])
      }
      await prepared
    }
  } finally {
    progress.end()
    await bench.close()
  }
  return [samples, lost]
}

function machine(): Record<string, string> {
  const [processor] = cpus()
  return {
    machine: `${cpus().length} × ${processor?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    'Node.js': process.version,
    turnpike: (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version,
  }
}

async function main(): Promise<number> {
  const bench = new Bench(values.quick ? QUICK : FULL)
  const { groups, missing } = await wanted(bench)
  for (const why of missing) process.stderr.write(`${why}\n`)
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5))
  const [samples, lost] = await measure(bench, groups, rounds)
  const quiet = median(lost) <= MOST_LOST
  if (!quiet && !values.noisy) {
    const share = shown(median(lost) * 100)
    process.stderr.write(
      `others used ${share} % of the processors: no figures are reported; try again, or use --noisy\n`,
    )
    return 2
  }
  const results: Results = {
    machine: machine(),
    command: ['node test/bench/main.ts', ...process.argv.slice(2)].join(' '),
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    lost,
    quiet,
    missing,
    rows: groups.flatMap(({ lines }) => lines.map((line) => rowOf(line, samples.get(line.name)!))),
  }
  writeFileSync(`${values.out}.json`, `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(`${values.out}.md`, markdown(results))
  process.stdout.write(markdown(results))
  if (values.compare === undefined) return 0
  const worse = regressions(JSON.parse(readFileSync(values.compare, 'utf8')) as Results, results, MOST_WORSE)
  for (const line of worse) process.stderr.write(`${line}\n`)
  return worse.length > 0 ? 1 : 0
}

process.exitCode = await main()
