/** The line of a console: what its list of turns costs the gateway that it watches. */

import { MARK } from './answers.ts'
import type { Group, Server } from './bench.ts'
import { load, type Measured } from './load.ts'
import { line, SHORT } from './turns.ts'

/** Turns a second, and the connections that send them. */
const PER_SECOND = 100
const WIDTH = 4
/** A share of a processor takes longer to measure than a rate does. */
const LONGER = 5

/** Opens what the page with the list does: the newest turns, and the stream of changes. Gives what closes it. */
async function watch({ port }: Server): Promise<() => void> {
  const stop = new AbortController()
  const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`, { signal: stop.signal })
  await (await ask('/v1/turns?limit=200')).arrayBuffer()
  const followed = await ask('/v1/turns?follow=1')
  followed.body!.pipeTo(new WritableStream()).catch(() => {})
  return () => stop.abort()
}

/** The gateway's processor time in percent of one processor. */
function share({ cpu, seconds }: Measured): number {
  return cpu / seconds / 10_000
}

const watched: Group = {
  name: 'console',
  once: true,
  lines: [
    line({
      name: 'console',
      what: `a console that watches ${PER_SECOND} turns/s: share of a processor`,
      unit: '%',
      against: 'unwatched',
      by: 'difference',
      budget: 3,
      bound: 'most',
    }),
  ],
  async round(bench) {
    const gateway = await bench.gateway('watched')
    const job = { ...SHORT, port: gateway.port, width: WIDTH, text: 'go', mark: MARK, sessions: 'watched' }
    const paced = { ...job, ms: LONGER * bench.amounts.ms, everyMs: (1000 * WIDTH) / PER_SECOND }
    const limit = share(await load(gateway.pid, paced))
    const stop = await watch(gateway)
    const figure = share(await load(gateway.pid, paced))
    stop()
    return { console: { figure, limit } }
  },
}

/** All groups of this file. */
export const CONSOLE: readonly Group[] = [watched]
