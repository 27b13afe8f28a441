import { describe, expect, test, vi } from 'vitest'
import { flawOutcome, flawTable, GOOD, outcomeOf, suiteOf } from '../kit/conformance.ts'

/** They need a server, and are tested with one. */
const OVER_HTTP = ['openharness.13.http-status', 'openharness.5.2.content-type', 'openharness.5.1.method']
/** How long a flawed agent has for an answer or its end, in milliseconds; those that hang use all of it. */
const PATIENCE_MS = 4_000
vi.setConfig({ maxConcurrency: 8 })
const table = await flawTable()
const flaws = Object.entries(table).flatMap(([name, rules]) => Object.keys(rules).map((rule) => [name, rule] as const))

test.each(Object.keys(GOOD))('there is a flaw for every rule of %s', async (name) => {
  const rules = (await suiteOf(name)).agent.map(({ id }) => id).filter((id) => !OVER_HTTP.includes(id))
  expect(Object.keys(table[name]!).sort()).toEqual(rules.sort())
})

describe('real programs', { concurrent: true }, () => {
  test.for(Object.keys(GOOD))('a good agent of %s breaks no rule', async (name, { expect }) => {
    const { broken, warned } = await outcomeOf(name, { command: process.execPath, args: GOOD[name]!, cwd: '.' })
    expect({ broken, warned }).toEqual({ broken: [], warned: [] })
  })

  test.for(flaws)('%s: the flaw of %s breaks that rule alone', async ([name, rule], { expect }) => {
    const isLenient = (await suiteOf(name)).agent.find(({ id }) => id === rule)!.lenient === true
    const { broken, warned } = await flawOutcome(name, rule, PATIENCE_MS)
    expect(broken).toEqual(isLenient ? [] : [rule])
    expect(warned.includes(rule)).toBe(isLenient)
  })
})
