import { describe, expect, test } from 'vitest'
import { MODEL, type Result, testAgent, testHostileAgent } from '../../src/conformance/index.ts'
import { suiteOf } from '../kit/conformance.ts'
import { ENDPOINT_FLAWS } from '../kit/endpoint-flaws.ts'
import { type Flaw, startEndpoint } from '../kit/endpoints.ts'

const SUITES = Object.keys(ENDPOINT_FLAWS)
const PREFIX: Readonly<Record<string, string>> = {
  openai: 'openai-chat',
  'openai@responses': 'openai-responses',
  anthropic: 'anthropic',
}

/** The results of a server with a flaw that are no plain success. */
async function found(name: string, flaw?: Flaw): Promise<readonly Result[]> {
  const suite = await suiteOf(name)
  const { url, close } = await startEndpoint(suite, flaw)
  try {
    const results = await testAgent({ suite, target: { url }, timeoutMs: 5_000, hostEnv: {} })
    if ('code' in results) throw new Error(results.message)
    return results.filter(({ status, seen }) => status === 'broken' || seen !== undefined)
  } finally {
    await close()
  }
}

describe.each(SUITES)('servers of %s', (name) => {
  const flaws = Object.entries(ENDPOINT_FLAWS[name]!).map(([rule, flaw]) => [`${PREFIX[name]}.${rule}`, flaw] as const)

  test('a good one breaks no rule, and nothing is left untested', async () => {
    expect(await found(name)).toEqual([])
    const suite = await suiteOf(name)
    const { url, close } = await startEndpoint(suite)
    const results = await testAgent({ suite, target: { url }, timeoutMs: 5_000, hostEnv: {} })
    await close()
    expect((results as Result[]).filter(({ status }) => status !== 'passed')).toEqual([])
  })

  test('there is a flaw for every rule', async () => {
    const { agent } = await suiteOf(name)
    expect(flaws.map(([rule]) => rule).sort()).toEqual(agent.map(({ id }) => id).sort())
  })

  test.each(flaws)('the flaw of %s breaks that rule alone', async (rule, flaw) => {
    const { agent } = await suiteOf(name)
    const { lenient = false } = agent.find(({ id }) => id === rule)!
    expect((await found(name, flaw)).map((one) => [one.rule, one.status])).toEqual([
      [rule, lenient ? 'passed' : 'broken'],
    ])
  })

  test('a good one comes through clients that misbehave', async () => {
    const suite = await suiteOf(name)
    const { url, close } = await startEndpoint(suite)
    const results = await testHostileAgent({ suite, target: { url }, timeoutMs: 5_000, hostEnv: {} })
    await close()
    expect((results as Result[]).filter(({ status }) => status === 'broken')).toEqual([])
  })

  test('the model that is asked for is the caller’s, else the first of the list', async () => {
    const suite = await suiteOf(name)
    const models: unknown[] = []
    const { url, close } = await startEndpoint(suite, (answer, { body }) => {
      if (body['model'] !== undefined) models.push(body['model'])
      return answer
    })
    const [rule] = suite.agent.filter(({ on }) => on.includes('whole'))
    const test = { suite, target: { url }, timeoutMs: 5_000, hostEnv: {}, only: rule!.id }
    await testAgent(test)
    expect([...new Set(models.splice(0))]).toEqual(['conformance-1'])
    await testAgent({ ...test, values: { [MODEL]: 'mine' } })
    await close()
    expect([...new Set(models)]).toEqual(['mine'])
  })
})
