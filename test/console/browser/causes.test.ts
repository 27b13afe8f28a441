/** Faults as whoever is on call meets them: their cause is on the first page, in words, and two clicks lead to all of it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { AGENTS, useConsole } from './kit.ts'

const NODE = process.execPath
const MODULE = 'Error: Cannot find module "@acme/agent"'

describe.skipIf(NO_BROWSER)('the first page in Chromium', () => {
  let provider: Server
  const at = useConsole(async () => {
    const answer = '{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}'
    provider = createServer((request, response) => {
      request.resume()
      response.writeHead(401, { 'content-type': 'application/json' }).end(answer)
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const { port } = provider.address() as AddressInfo
    return AGENTS.replace(
      'routes:',
      `  crasher: { protocol: native, command: ${NODE}, args: [-e, 'console.error(${JSON.stringify(MODULE)}); process.exit(3)'] }
  silent: { protocol: zot, command: /bin/sleep, args: ["600"], limits: { start: 300ms } }
  broken: { protocol: zot, command: /nowhere/zot, breaker: { failures: 2, cooldown: 10m } }
  model: { protocol: openai, url: "http://127.0.0.1:${port}/v1", model: gpt, headers: { Authorization: "Bearer sk-wrong" } }
routes:`,
    )
  })
  afterAll(() => provider.close())

  const attention = () => at.page.locator('.attention')
  const of = (agent: string) => attention().locator('li').filter({ hasText: agent })

  test('says so when nothing needs attention', async () => {
    await at.opened.go('overview')
    await at.reads(attention(), 'Nothing needs attention: no turn has failed in the last hour.')
  })

  test('has the cause of each failure in words', async () => {
    for (const agent of ['crasher', 'silent', 'model', 'broken', 'broken', 'broken', 'broken'])
      await at.turn(agent, 'hi')
    await at.page.reload()
    await at.reads(of('crasher'), /1 of 1 turns failed.*agent-crashed The agent exited with code 3/)
    await at.reads(of('crasher').locator('pre'), MODULE)
    await at.reads(of('silent'), 'agent-unavailable The agent "silent" was not ready within 300 ms (limit "start").')
    await at.reads(of('model'), /provider-auth .*401.*Incorrect API key provided\./)
    // What the breaker refuses is no turn: the cause of the failures before stays.
    await at.reads(of('broken'), /2 of 2 turns failed.*gets no turns for a while \(breaker open\)/)
    await at.reads(of('broken'), /could not be started: there is no such file.* 2 times/)
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('attention')
  })

  test('leads to the turn with one click, which has the error output of its agent', async () => {
    await of('crasher').getByRole('link', { name: 'ago' }).click()
    await at.reads(at.page.locator('.problem'), /agent-crashed .*What the agent wrote to stderr/)
    await at.reads(at.page.locator('.problem pre'), MODULE)
    expect(await at.opened.axe()).toEqual([])
  })

  test('has the turns that wait for an answer, which can be given on the page of the turn', async () => {
    const asked = at.turn('talker', 'approval', { session: { id: 'asks' } })
    await at.opened.go('overview')
    await of('asks').getByRole('link', { name: 'talker waits for an answer' }).click()
    const question = at.page.getByLabel('A question of the agent')
    await question.getByRole('button', { name: 'Deny' }).click()
    await at.reads(at.page.locator('.state'), 'completed')
    expect(await question.count()).toBe(0)
    // The request was answered when it parked.
    expect(await (await asked).json()).toMatchObject({ outcome: 'parked' })
  })

  test('says that the store is slow', async () => {
    await at.page.route('**/v1/overview', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), store: { writable: true, writeMs: 1300 } } })
    })
    await at.opened.go('overview')
    await at.page.reload()
    await at.reads(attention(), 'The store is slow')
    await at.reads(attention(), 'A small write takes 1.3 s, and every turn waits for several.')
    await at.page.unroute('**/v1/overview')
  })

  test('says which replicas do not answer, and of how many the figures are', async () => {
    const replicas = { of: 3, answered: 2, missing: ['http://10.0.0.7:8484'] }
    for (const path of ['**/v1/overview', '**/v1/agents']) {
      await at.page.route(path, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), replicas } })
      })
    }
    await at.opened.go('overview')
    await at.page.reload()
    await at.reads(attention(), /1 of 3 replicas does not answer.*No answer came from http:\/\/10\.0\.0\.7:8484\./)
    await at.reads(at.page.locator('.head'), 'the last 60 minutes, of 2 of 3 replicas: the others do not answer')
    expect(await at.opened.axe()).toEqual([])
    replicas.answered = 3
    await at.opened.go('agents')
    await at.reads(at.page.locator('.head'), 'figures of the last hour, of all 3 replicas')
    await at.page.unroute('**/v1/overview')
    await at.page.unroute('**/v1/agents')
  })

  test('the arrow keys move in the list of turns, from its first row in sight', async () => {
    await at.opened.go('turns?agent=broken')
    await at.page.locator('.turn-row .cover').first().waitFor()
    await at.page.locator('.virtual').focus()
    const focused = () => at.page.locator(':focus').getAttribute('href')
    const links = await at.page.locator('a.cover').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    await at.page.keyboard.press('ArrowDown')
    await at.page.keyboard.press('ArrowDown')
    expect(await focused()).toBe(links[1])
    await at.page.keyboard.press('ArrowUp')
    expect(await focused()).toBe(links[0])
    await at.page.keyboard.press('Enter')
    await at.page.getByRole('heading', { level: 1, name: 'Turn' }).waitFor()
  })

  test('a list that filters leave empty says so', async () => {
    await at.opened.go('turns?q=nothing-like-this')
    await at.reads(at.page.locator('.empty'), 'No turn passes these filters.')
  })
})
