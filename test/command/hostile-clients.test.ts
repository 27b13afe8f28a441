import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import { hostileClientRules } from '../../src/conformance/index.ts'
import { suiteOf } from '../kit/conformance.ts'
import { ROOT } from '../kit/gateway.ts'
import { hostileClient } from '../kit/hostile.ts'

const CLIENT = join(ROOT, 'test/kit/hostile-clients.mjs')
const PROTOCOLS = ['zot', 'openharness'] as const
/** The client of OpenHarness calls a server. */
const OF_PROCESSES = ['exits-0-in-the-answer', 'exits-1-without-answer', 'dies-at-start', 'stderr-before-stdout']
/** A client that waits for ever is given less time. */
const PATIENCE: Readonly<Record<string, number>> = { 'stderr-before-stdout': 1_500 }

vi.setConfig({ maxConcurrency: 3 })
const clients = Object.fromEntries(
  await Promise.all(
    PROTOCOLS.map(async (name) => {
      const command = (naive: string) => [process.execPath, CLIENT, name, naive] as const
      return [name, await hostileClient(name, command)] as const
    }),
  ),
)
const rules = (
  await Promise.all(
    PROTOCOLS.map(async (protocol) => {
      const all = hostileClientRules(await suiteOf(protocol)).map(({ name }) => name)
      const own = protocol === 'zot' ? all : all.filter((name) => !OF_PROCESSES.includes(name))
      // Every run is three processes: some of them are enough.
      const next = (at: number) => (at % 4 === 1 ? own[at + 1] : undefined)
      return own.map((name, at) => [protocol, name, at === 0 ? undefined : next(at)] as const)
    }),
  )
).flat()

/** Naive clients that show no answer where they should: that is a warning. All others are broken. */
const WARNED: Readonly<Record<string, readonly string[]>> = {
  zot: [
    ...['banner', 'lost-boundary', 'blank-lines-and-crlf', 'no-newline-at-the-end'],
    ...['odd-numbers-and-keys', 'unknown-messages-and-fields'],
  ],
  openharness: ['blank-lines-and-crlf', 'odd-numbers-and-keys'],
}

describe('naive clients', { concurrent: true }, () => {
  test.for(rules)('of %s: one that is naive about %s alone', async ([protocol, name, other], { expect }) => {
    const found = await clients[protocol]!.outcome(name, name, PATIENCE[name])
    expect(found.split(':')[0]).toBe(WARNED[protocol]!.includes(name) ? 'warning' : 'broken')
    // It is naive about that one only.
    if (other !== undefined) expect(await clients[protocol]!.outcome(other, name)).toBe('passed')
  })
})
