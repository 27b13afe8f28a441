import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import { hostileAgentRules } from '../../src/conformance/index.ts'
import type { Behaviour } from '../../src/conformance/kit/index.ts'
import { suiteOf } from '../kit/conformance.ts'
import { ROOT } from '../kit/gateway.ts'
import { hostileAgentOutcome } from '../kit/hostile.ts'

const AGENT = join(ROOT, 'test/kit/hostile-agents.mjs')
const PROTOCOLS = ['zot', 'openharness'] as const
/** Naive agents that never end are given less time. */
const ENDLESS: readonly string[] = ['says-nothing', 'no-newline-at-the-end', 'half-a-line-then-ends']

vi.setConfig({ maxConcurrency: 3 })
const rules = (
  await Promise.all(
    PROTOCOLS.map(async (protocol) => {
      const names = hostileAgentRules(await suiteOf(protocol)).map(({ name }) => name)
      return names.map((name, at) => [protocol, name, at % 4 === 1 ? names[at + 1] : undefined] as const)
    }),
  )
).flat()

function outcome(protocol: string, name: Behaviour, naive: string, timeoutMs?: number): Promise<string> {
  const target = { command: process.execPath, args: [AGENT, protocol, naive], cwd: ROOT }
  return hostileAgentOutcome(protocol, name, target, timeoutMs)
}

describe('agents', { concurrent: true }, () => {
  test.for(rules)('of %s: a naive one is found out by %s alone', async ([protocol, name, other], { expect }) => {
    const found = await outcome(protocol, name, name, ENDLESS.includes(name) ? 1_000 : undefined)
    const isWarned = protocol === 'zot' && name === 'unknown-messages-and-fields'
    expect(found.split(':')[0]).toBe(isWarned ? 'warning' : 'broken')
    if (other !== undefined) expect(await outcome(protocol, other, name)).toBe('passed')
  })

  test.for(rules)('of %s: a robust one comes through %s', async ([protocol, name], { expect }) => {
    expect(await outcome(protocol, name, '')).toBe('passed')
  })
})
