import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { useConsole } from './kit.ts'

/** The number of turns in the long list. */
const MANY = 10_000

describe.skipIf(NO_BROWSER)('hostile content in Chromium', () => {
  const at = useConsole()

  test('is shown as text, with its hidden characters by their names', async () => {
    let dialogs = 0
    at.page.on('dialog', (dialog) => {
      dialogs += 1
      void dialog.dismiss()
    })
    const session = '\u202Eevil\u001b[31m<b>'
    const answer = await at.turn('talker', 'hostile', {
      session: { id: session },
      request: '<img src=x onerror=alert(3)>',
    })
    const { turn } = (await answer.json()) as { turn: string }
    await at.opened.go('turns')
    await at.reads(at.page.locator('.turn-row'), 'RLOevilESC[31m<b>')
    await at.opened.go(`turns/${turn}`)
    await at.reads(at.page.locator('.side-row'), /ESC\[31mredESC\[0m/)
    await at.reads(at.page.locator('.side-row'), /<script>alert\(2\)<\/script>/)
    await at.opened.go('try?agent=talker')
    await at.page.getByLabel('Prompt').fill('hostile')
    await at.page.getByRole('button', { name: 'Send' }).click()
    await at.reads(at.page.locator('.answer'), /RLOgnp\.exe <\/script><img/)
    const text = await at.page.locator('body').textContent()
    expect(text).not.toMatch(/[\u001b\u202e]/)
    expect(await at.page.locator('main img, main script, main b b').count()).toBe(0)
    expect(dialogs).toBe(0)
    await at.opened.shot('hostile')
  })

  test('an answer of ten million characters is cut until the reader wants more', async () => {
    const answer = await at.turn('talker', 'huge')
    const { turn } = (await answer.json()) as { turn: string }
    await at.opened.go(`turns/${turn}`)
    const said = at.page.locator('.event .said').filter({ hasText: 'xxxx' }).first()
    await said.getByRole('button', { name: /Show more \(10 M characters left\)/ }).click()
    await at.reads(said, /^x{101500}Show more/)
  })

  test('ten thousand turns can be scrolled, and only those in sight are drawn', async () => {
    await at.page.route('**/v1/turns?**', async (route) => {
      const url = new URL(route.request().url())
      if (url.searchParams.has('follow')) return route.continue()
      const first = Number(url.searchParams.get('before') ?? 0)
      const turns = Array.from({ length: 1_000 }, (_, index) => ({
        turn: String(first + index + 1),
        state: 'completed',
        agent: 'coder',
        front: 'zene',
        session: `s${first + index + 1}`,
        startedAt: 1_700_000_000_000 - first - index,
        timings: { total: 10 },
      }))
      const last = first + turns.length
      return route.fulfill({ json: { turns, ...(last < MANY && { next: String(last) }) } })
    })
    await at.opened.go('turns?agent=coder')
    const list = at.page.locator('.virtual')
    await at.page.locator('.turn-row').nth(1).waitFor()
    const end = async (): Promise<string> => {
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
      return (await at.page.locator('.turn-row').last().textContent()) ?? ''
    }
    await expect.poll(end, { timeout: 30_000, interval: 20 }).toContain('s10000')
    expect(await at.page.locator('.turn-row').count()).toBeLessThan(80)
    await at.page.unroute('**/v1/turns?**')
  })
})
