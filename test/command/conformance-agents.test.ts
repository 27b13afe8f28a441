import { describe, expect, test } from 'vitest'
import { flawed, flawTable, GOOD, outcomeOf, suiteOf } from '../kit/conformance.ts'

/** What the good ones are warned of: they read lines by a module that also splits at U+2028, and take some for granted. */
const WARNED: Readonly<Record<string, readonly string[]>> = {
  zot: ['zot.5.line-separator', 'zot.4.token-first'],
  zene: ['zene.2.line-separator'],
  'agentproc@0.4': ['agentproc-0.4.1.nothing'],
}
/** They need a server, and are tested with one. */
const OVER_HTTP = ['openharness.13.http-status', 'openharness.5.2.content-type', 'openharness.5.1.method']
const table = await flawTable()

describe.each(Object.keys(GOOD))('%s', (name) => {
  test('a good agent breaks no rule', async () => {
    const { broken, warned } = await outcomeOf(name, { command: process.execPath, args: GOOD[name]!, cwd: '.' })
    expect({ broken, warned }).toEqual({ broken: [], warned: WARNED[name] ?? [] })
  })

  test('there is a flaw for every rule', async () => {
    const rules = (await suiteOf(name)).agent.map(({ id }) => id).filter((id) => !OVER_HTTP.includes(id))
    expect(Object.keys(table[name]!).sort()).toEqual(rules.sort())
  })

  test.concurrent.for(Object.keys(table[name]!))('the flaw of %s breaks that rule alone', async (rule, { expect }) => {
    const isLenient = (await suiteOf(name)).agent.find(({ id }) => id === rule)!.lenient === true
    const { broken, warned } = await outcomeOf(name, flawed(name, rule), 4_000)
    expect(broken).toEqual(isLenient ? [] : [rule])
    expect(warned.includes(rule)).toBe(isLenient)
  })
})
