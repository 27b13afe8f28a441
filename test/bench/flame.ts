/**
 * `node test/bench/flame.ts`: flame graphs of the two hottest paths, a streamed and a whole turn, into docs/flame-graphs,
 * and on stdout how much of the time each part of the program has for itself. The gateway
 * runs from its sources, so that functions have the names and places that they have there.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../kit/gateway.ts'
import { MARK } from './answers.ts'
import { type CpuProfile, flameGraph, sharesOf } from './flame-graph.ts'
import { Workshop } from './gateway.ts'
import { load } from './load.ts'

const SECONDS = 5
const FOLDER = join(ROOT, 'docs/flame-graphs')

const PATHS = {
  streamed: {
    title: 'a streamed turn of 200 events: OpenHarness SSE to warm zot processes, 32 at once',
    job: { path: '/v1/openharness/stream', kind: 'openharness', headers: { accept: 'text/event-stream' } },
  },
  whole: {
    title: 'a whole turn: Zene over HTTP to warm zot processes, 32 at once',
    job: { path: '/v1/zene/short', kind: 'zene' },
  },
} as const

mkdirSync(FOLDER, { recursive: true })
for (const [name, { title, job }] of Object.entries(PATHS)) {
  const workshop = new Workshop()
  const profiles = join(workshop.folder, 'profiles')
  const gateway = await workshop.gateway({ profiles })
  const about = { port: gateway.port, width: 32, ms: SECONDS * 1000, text: 'go', mark: MARK, sessions: 'flame' }
  await load(gateway.pid, { ...job, ...about })
  await gateway.stop()
  const [file] = readdirSync(profiles)
  const profile = JSON.parse(readFileSync(join(profiles, file!), 'utf8')) as CpuProfile
  writeFileSync(join(FOLDER, `${name}.svg`), flameGraph(profile, SECONDS, title))
  const shares = sharesOf(profile, SECONDS).map(([place, percent]) => `${place} ${percent.toFixed(0)} %`)
  process.stdout.write(`${name}: ${shares.join(', ')}\n`)
  rmSync(workshop.folder, { recursive: true, force: true })
}
