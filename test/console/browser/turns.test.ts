import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CONSOLE, type ConsolePage, NO_BROWSER, openBrowser, openConsole } from '../../kit/browser.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../../kit/gateway.ts'

describe.skipIf(NO_BROWSER)('the list of turns in Chromium', () => {
  let gateway: TestGateway
  let browser: Browser
  let opened: ConsolePage

  beforeAll(async () => {
    const yaml = `default: helper\nagents:${EXAMPLE_AGENTS}\n  hollow: { protocol: zot, command: /nowhere/zot }\n`
    ;[gateway, browser] = await Promise.all([startGateway(yaml, { console: { folder: CONSOLE } }), openBrowser()])
    opened = await openConsole(browser, gateway.url)
  })
  afterAll(async () => {
    await browser.close()
    await gateway.close()
  })
  afterEach(() => expect(opened.wrong).toEqual([]))

  const turn = (agent: string, session: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'hi', session: { id: session } }),
    })
  const rows = () => opened.page.locator('.turn-row:not(.heading)')

  const shown = (): Promise<string[]> => rows().locator('.state').allTextContents()

  test('shows turns as they come, without loading again', async () => {
    await opened.go('turns')
    await opened.page.getByText('No turns.').waitFor()
    await turn('helper', 'first')
    await rows().nth(0).getByText('completed').waitFor()
    await turn('hollow', 'second')
    await rows().nth(0).getByText('agent-unavailable').waitFor()
    expect(await rows().count()).toBe(2)
    expect(await opened.page.title()).toBe('Turns · Turnpike')
  })

  test('is narrowed by filters, which the address keeps', async () => {
    await opened.page.getByLabel('State').selectOption('failed')
    await expect.poll(shown).toEqual(['failed'])
    expect(new URL(opened.page.url()).hash).toBe('#/turns?state=failed')
    await opened.page.reload()
    await expect.poll(shown).toEqual(['failed'])
    await opened.page.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(shown).toEqual(['failed', 'completed'])
  })

  test('leads to a turn, also by the keyboard', async () => {
    await rows().nth(0).getByRole('link').focus()
    await opened.page.keyboard.press('Enter')
    await opened.page.getByRole('heading', { name: 'Turn' }).waitFor()
    await opened.page.goBack()
    await rows().nth(1).waitFor()
  })

  test('has nothing that axe objects to, in light and dark and on a phone', async () => {
    expect(await opened.axe()).toEqual([])
    await opened.shot('turns')
    await opened.page.getByRole('button', { name: /Colours/ }).click()
    await opened.page.getByRole('button', { name: /Colours: light/ }).click()
    expect(await opened.axe()).toEqual([])
    await opened.shot('turns-dark')
    await opened.page.setViewportSize({ width: 390, height: 800 })
    expect(await opened.axe()).toEqual([])
    await opened.shot('turns-phone')
  })
})
