import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import { clientOutcome, suiteOf } from '../kit/conformance.ts'
import { ROOT } from '../kit/gateway.ts'

const CLIENT = join(ROOT, 'test/kit/tiny-clients.mjs')
const PROTOCOLS = [
  ...(['native', 'zot', 'zene', 'agentproc', 'agentproc@0.4', 'openharness', 'qwen', 'qwen-code'] as const),
  ...(['acp', 'openai', 'openai@responses', 'anthropic'] as const),
]
/** A client that never ends is given less time. */
const PATIENCE: Readonly<Record<string, number>> = {
  'openharness.client.5.2.ends': 2_000,
  'openai-chat.client.1.ends': 2_000,
  'openai-responses.client.1.ends': 2_000,
  'anthropic.client.1.ends': 2_000,
}

vi.setConfig({ maxConcurrency: 6 })
const rules = (
  await Promise.all(
    PROTOCOLS.map(async (name) =>
      (await suiteOf(name)).client.map(({ id, lenient = false }) => [name, id, lenient] as const),
    ),
  )
).flat()

describe('real programs', { concurrent: true }, () => {
  test.for(PROTOCOLS)('a good client of %s breaks no rule', async (name, { expect }) => {
    const { broken, warned } = await clientOutcome(name, [process.execPath, CLIENT, name])
    expect({ broken, warned }).toEqual({ broken: [], warned: [] })
  })

  test.for(rules)('%s: the broken client of %s breaks that rule alone', async ([name, rule, isLenient], { expect }) => {
    const { broken, warned } = await clientOutcome(name, [process.execPath, CLIENT, name, rule], PATIENCE[rule])
    expect({ broken, warned }).toEqual(isLenient ? { broken: [], warned: [rule] } : { broken: [rule], warned: [] })
  })
})
