/**
 * Gateways that are killed at random moments of many streams, and what those who resume are shown by the next one.
 * `KILLS=20` makes it 200 streams; `SEED` chooses other moments.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../kit/processes.ts'
import { type Served, serve } from './served.ts'

const KILLS = Number(process.env['KILLS'] ?? 2)
const STREAMS = 10
/** A kill comes when all streams together have been shown up to this many events. */
const MOST_EVENTS = 2000

/** Pseudo-random numbers in [0, 1) (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Shown {
  id: number
  data: { type: string; how?: string; losses?: unknown; outcome?: string; turn: string }
}

/** Reads a stream of server-sent events to its end, or until it breaks off. */
async function read(response: Response, each: (shown: Shown) => void): Promise<void> {
  let rest = ''
  try {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) {
        const id = /^id: (\d+)$/m.exec(block)?.[1]
        const data = /^data: (.*)$/m.exec(block)?.[1]
        if (id !== undefined) each({ id: Number(id), data: JSON.parse(data!) as Shown['data'] })
      }
    }
  } catch {
    // The gateway is gone.
  }
}

/** The event under its number, without what each of its readers is told of themselves. */
function told({ id, data: { how: _how, losses: _losses, ...event } }: Shown): [number, string] {
  return [id, JSON.stringify(event)]
}

describe('numbers of events that a client was shown', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-numbers-'))
  let gateway: Served
  beforeAll(async () => {
    gateway = await serve(yaml, { folder })
  })
  afterAll(async () => {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const yaml = `server: { port: 0, socket: false }
default: a
agents: { a: { protocol: native, pool: { max: ${STREAMS} }, command: ${process.execPath}, args: [${join(import.meta.dirname, '../kit/agents/streams.mjs')}] } }
limits: { grace: 200ms }
store: { path: ./turnpike.db }
`
  const next = random(Number(process.env['SEED'] ?? 1))

  test.each(Array.from({ length: KILLS }, (_, at) => at + 1))(
    'are never those of other events after kill %i, and nothing behind them is missed',
    async () => {
      const seen: Shown[][] = Array.from({ length: STREAMS }, () => [])
      const streams = seen.map(async (events) => {
        const headers = { accept: 'text/event-stream', 'content-type': 'application/json' }
        const asked = { method: 'POST', headers, body: JSON.stringify({ input: 'go on' }) }
        await fetch(`${gateway.url}/v1/turns`, asked).then(
          (response) => read(response, (shown) => events.push(shown)),
          () => {},
        )
      })
      const moment = Math.floor(next() * MOST_EVENTS)
      const count = (): number => seen.reduce((sum, { length }) => sum + length, 0)
      await until(() => seen.every(({ length }) => length > 0) && count() >= moment)
      gateway.process.kill('SIGKILL')
      await Promise.all(streams)

      gateway = await serve(yaml, { folder, port: gateway.port })
      for (const events of seen) {
        const last = events.at(-1)!.id
        const path = `${gateway.url}/v1/turns/${events[0]!.data.turn}/events`
        const recorded: Shown[] = []
        const resumed: Shown[] = []
        await read(await fetch(path), (shown) => recorded.push(shown))
        await read(await fetch(path, { headers: { 'last-event-id': `${last}` } }), (shown) => resumed.push(shown))
        const record = new Map(recorded.map(told))
        const others = events.map(told).filter(([id, event]) => record.has(id) && record.get(id) !== event)
        expect(others).toEqual([])
        expect(resumed.map(told)).toEqual(recorded.filter(({ id }) => id > last).map(told))
        expect(resumed.map(({ data }) => data).at(-1)).toMatchObject({ type: 'turn-end', outcome: 'failed' })
      }
    },
  )
})
