import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { useConsole } from './kit.ts'

describe.skipIf(NO_BROWSER)('the other pages in Chromium', () => {
  const at = useConsole()
  const main = () => at.page.locator('main')

  test('the overview has figures and charts of the last hour', async () => {
    await at.turn('talker', 'hello', { session: { id: 'greeting' } })
    await at.turn('hollow', 'hello')
    await at.opened.go('overview')
    await at.reads(at.page.locator('.tile').filter({ hasText: 'Turns' }), /Turns2/)
    await at.reads(at.page.locator('.tile').filter({ hasText: 'Failed' }), '1 (50 %)')
    const charts = at.page.getByRole('img')
    expect(await charts.count()).toBe(5)
    expect(await charts.first().getAttribute('aria-label')).toBe(
      'Turns a minute, a value a minute. failed: at most 1; others: at most 1.',
    )
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('overview')
  })

  test('the agents have their figures and last errors', async () => {
    await at.opened.go('agents')
    const hollow = at.page.locator('.card').filter({ hasText: 'hollow' })
    await at.reads(hollow, /agent-unavailable.*could not be started: there is no such file/)
    const talker = at.page.locator('.card').filter({ hasText: 'talker' })
    await at.reads(talker, /Version1\.4\.0/)
    await at.reads(talker, /Modelsmall-1/)
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('agents')
    await talker.getByRole('link', { name: 'Its turns' }).click()
    await at.reads(at.page.locator('.turn-row'), 'greeting')
  })

  test('the sessions have their transcripts, and can be deleted', async () => {
    await at.opened.go('sessions')
    expect(await at.opened.axe()).toEqual([])
    await main().getByRole('link', { name: 'greeting' }).click()
    await at.reads(at.page.locator('.transcript .user'), 'hello')
    await at.reads(at.page.locator('.transcript .assistant'), 'You said: hello')
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('session')
    await main().getByRole('button', { name: 'Delete' }).click()
    await main()
      .getByRole('button', { name: /Press again/ })
      .click()
    await at.page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await expect.poll(() => main().getByRole('link', { name: 'greeting' }).count()).toBe(0)
  })

  test('the matrix explains what a pair loses', async () => {
    await at.opened.go('matrix')
    await main()
      .getByRole('link', { name: /^zene to zot: \d+ items$/ })
      .click()
    await at.page.getByRole('heading', { name: 'A client of zene with an agent of zot' }).waitFor()
    await at.reads(at.page.locator('.explained'), /is lost\. .*have no place for it\./)
    await main().getByRole('link', { name: 'zene to zene: 0 items' }).click()
    await at.reads(at.page.locator('.explained'), 'Everything that both protocols can say arrives.')
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('matrix')
  })

  test.each([
    'overview',
    'turns/TURN',
    'sessions',
    'sessions/SESSION',
    'agents',
    'matrix?client=zene&agent=zot',
    'try',
  ])('%s fits a phone, and has nothing that axe objects to there', async (address) => {
    const answer = await at.turn('talker', `hello ${'x'.repeat(500)}`, { session: { id: 'long' } })
    const { turn } = (await answer.json()) as { turn: string }
    const listed = await fetch(`${at.gateway.url}/v1/sessions?q=long`)
    const { sessions } = (await listed.json()) as { sessions: { id: string }[] }
    await at.page.emulateMedia({ colorScheme: 'dark' })
    await at.page.setViewportSize({ width: 390, height: 800 })
    await at.opened.go(address.replace('TURN', turn).replace('SESSION', sessions[0]!.id))
    await at.page.getByRole('heading', { level: 1 }).waitFor()
    if (/TURN|SESSION/.test(address)) await at.page.getByText('xxxx').first().waitFor()
    expect(
      await at.page.locator('html').evaluate((page) => (page as unknown as { scrollWidth: number }).scrollWidth),
    ).toBe(390)
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot(`${address.split('?')[0]!.replace('/', '-')}-dark-phone`)
    await at.page.emulateMedia({ colorScheme: 'light' })
    await at.page.setViewportSize({ width: 1280, height: 800 })
  })

  test('an address that is none is the overview, and the frame leads everywhere', async () => {
    await at.opened.go('nowhere')
    for (const name of ['Turns', 'Try it', 'Sessions', 'Agents', 'Matrix', 'Overview']) {
      await at.page.getByRole('navigation').getByRole('link', { name }).click()
      await at.page.getByRole('heading', { name, level: 1 }).waitFor()
    }
  })

  test('without the gateway the page says so, and goes on when it is there again', async () => {
    await at.page.route('**/v1/**', (route) => route.abort())
    await at.opened.go('agents')
    await at.reads(at.page.getByRole('alert'), 'The gateway does not answer.')
    await at.page.unroute('**/v1/**')
    await at.page.reload()
    await at.page.locator('.card').first().waitFor()
    at.opened.wrong.length = 0
  })
})
