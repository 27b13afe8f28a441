import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientOutcome, suiteOf } from '../kit/conformance.ts'
import { ROOT } from '../kit/gateway.ts'

const CLIENT = join(ROOT, 'test/kit/tiny-clients.mjs')
const PROTOCOLS = ['zot', 'zene', 'agentproc', 'agentproc@0.4', 'openharness', 'qwen', 'qwen-code']
/** A client that never ends is given less time. */
const PATIENCE: Readonly<Record<string, number>> = { 'openharness.client.5.2.ends': 2_000 }
const rules = Object.fromEntries(
  await Promise.all(PROTOCOLS.map(async (name) => [name, (await suiteOf(name)).client] as const)),
)

describe.each(PROTOCOLS)('%s', (name) => {
  test('a good client breaks no rule', async () => {
    const { broken, warned } = await clientOutcome(name, [process.execPath, CLIENT, name])
    expect({ broken, warned }).toEqual({ broken: [], warned: [] })
  })

  test.concurrent.for(rules[name]!.map(({ id }) => id))(
    'the broken client of %s breaks that rule alone',
    async (rule, { expect }) => {
      const isLenient = rules[name]!.find(({ id }) => id === rule)!.lenient === true
      const { broken, warned } = await clientOutcome(name, [process.execPath, CLIENT, name, rule], PATIENCE[rule])
      expect(broken).toEqual(isLenient ? [] : [rule])
      expect(warned).toEqual(isLenient ? [rule] : [])
    },
  )
})
