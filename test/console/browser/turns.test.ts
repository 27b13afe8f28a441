import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { useConsole } from './kit.ts'

describe.skipIf(NO_BROWSER)('the list of turns in Chromium', () => {
  const at = useConsole()
  const rows = () => at.page.locator('.turn-row:not(.heading)')
  const states = (): Promise<string[]> => rows().locator('.state').allTextContents()

  test('shows turns as they come, without loading again', async () => {
    await at.opened.go('turns')
    await at.page.getByText('No turns yet.').waitFor()
    await at.turn('helper', 'hi', { session: { id: 'first' } })
    await expect.poll(states).toEqual(['completed'])
    await at.turn('hollow', 'hi', { session: { id: 'second' } })
    await expect.poll(states).toEqual(['failed', 'completed'])
    await at.reads(rows().first(), 'agent-unavailable')
    expect(await at.page.title()).toBe('Turns · Turnpike')
  })

  test('is narrowed by filters, which the address keeps', async () => {
    await at.page.getByLabel('State').selectOption('failed')
    await expect.poll(states).toEqual(['failed'])
    expect(new URL(at.page.url()).hash).toBe('#/turns?state=failed')
    await at.page.reload()
    await expect.poll(states).toEqual(['failed'])
    await at.page.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(states).toEqual(['failed', 'completed'])
    await at.page.getByLabel('Search').fill('FIRST')
    await at.page.keyboard.press('Enter')
    await expect.poll(states).toEqual(['completed'])
    await at.page.getByRole('button', { name: 'Clear' }).click()
  })

  test('leads to a turn, also by the keyboard', async () => {
    await rows().first().getByRole('link').focus()
    await at.page.keyboard.press('Enter')
    await at.page.getByRole('heading', { name: 'Turn' }).waitFor()
    await at.page.goBack()
    await rows().nth(1).waitFor()
  })

  test('has nothing that axe objects to, in light and dark and on a phone', async () => {
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('turns')
    await at.page.getByRole('button', { name: /Colours/ }).click()
    await at.page.getByRole('button', { name: /Colours: light/ }).click()
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('turns-dark')
    await at.page.setViewportSize({ width: 390, height: 800 })
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('turns-phone')
  })
})
