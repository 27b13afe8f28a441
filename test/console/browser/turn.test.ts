import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { useConsole } from './kit.ts'

describe.skipIf(NO_BROWSER)('a turn in Chromium', () => {
  const at = useConsole()
  const lines = () => at.page.locator('.side-row:not(.side-heading)')

  test('shows where its time went, its events, and what was lost at them', async () => {
    const answer = await fetch(`${at.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': 'any' },
      body: '{"model":"talker","max_tokens":9,"messages":[{"role":"user","content":"think"}]}',
    })
    const turn = answer.headers.get('turnpike-turn')!
    await at.opened.go(`turns/${turn}`)
    await at.page.getByRole('heading', { name: turn }).waitFor()
    await at.page.getByRole('img', { name: /^Where the time went: / }).waitFor()
    await at.reads(lines(), 'text-delta')
    const texts = await lines().locator('.said').allTextContents()
    expect(texts).toContain('Let me see.')
    expect(texts).toContain('Seen.')
    const lost = at.page.locator('.has-loss').filter({ hasText: 'usage.costUsd did not arrive' })
    expect(await lost.locator('.type').textContent()).toBe('usage')
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('turn')
  })

  test('is followed while it runs, and can be cancelled', async () => {
    const begun = await fetch(`${at.gateway.url}/v1/turns/talker`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'respond-async' },
      body: '{"input":"wait"}',
    })
    const { id } = (await begun.json()) as { id: string }
    await at.opened.go(`turns/${id}`)
    await at.page.getByRole('button', { name: 'Cancel' }).click()
    await at.reads(at.page.locator('.head .state'), 'cancelled')
    await at.reads(lines(), 'turn-end')
  })

  test('that is not there is said to be none', async () => {
    await at.opened.go('turns/none')
    await at.reads(at.page.getByRole('alert'), /turn/i)
  })
})
