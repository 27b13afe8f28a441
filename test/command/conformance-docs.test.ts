import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSuites, testedProtocols } from '../../src/conformance/suites.ts'
import { ROOT } from '../kit/gateway.ts'
import { ruleList } from '../kit/rule-list.ts'

const PAGE = join(ROOT, 'docs/conformance.md')
const MARK =
  '<!-- The rest of this page is generated: ACCEPT=1 npx vitest run test/command/conformance-docs.test.ts -->\n'

test('docs/conformance.md lists every rule', async () => {
  const [head] = readFileSync(PAGE, 'utf8').split(MARK)
  const page = `${head}${MARK}\n${await ruleList()}\n`
  if (process.env['ACCEPT']) writeFileSync(PAGE, page)
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
})

test.each(testedProtocols)('the suites of %s are whole', async (name) => {
  const { suites } = (await loadSuites(name))!
  for (const { agent, client, scenarios } of Object.values(suites)) {
    for (const rules of [agent, client]) {
      const ids = rules.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      // What a rule needs is judged before it.
      expect(rules.flatMap(({ needs = [] }, at) => needs.filter((id) => !ids.slice(0, at).includes(id)))).toEqual([])
      expect(rules.filter(({ id, section }) => !id.includes(`.${section.split(' ')[0]}.`))).toEqual([])
    }
    const names = scenarios.map((scenario) => scenario.name)
    const unknown = agent.flatMap(({ on }) => (on === 'all' ? [] : on.filter((one) => !names.includes(one))))
    expect(unknown).toEqual([])
    expect(agent.length).toBeGreaterThanOrEqual(10)
    expect(client.length).toBeGreaterThanOrEqual(5)
  }
  expect(await loadSuites('nothing')).toBeUndefined()
})
