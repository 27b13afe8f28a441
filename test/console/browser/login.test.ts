import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { AGENTS, useConsole } from './kit.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const KEYS = `
server:
  keys:
    - { name: ops, hash: ${hashOf('ops-key')}, role: admin }
    - { name: web, hash: ${hashOf('web-key')} }
${AGENTS}`

describe.skipIf(NO_BROWSER)('the login in Chromium', () => {
  const at = useConsole(KEYS)
  const rows = () => at.page.locator('.turn-row:not(.heading)')
  const turn = (key: string, session: string): Promise<Response> =>
    fetch(`${at.gateway.url}/v1/turns/helper`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ input: 'hi', session: { id: session } }),
    })
  const logIn = async (key: string): Promise<void> => {
    await at.page.getByLabel('Key').fill(key)
    await at.page.getByRole('button', { name: 'Log in' }).click()
  }

  test('is asked for, and refuses a wrong key', async () => {
    await turn('ops-key', 'of-ops')
    await turn('web-key', 'of-web')
    await at.opened.go('turns')
    await at.page.getByLabel('Key').waitFor()
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('login')
    await logIn('no-key')
    await at.reads(at.page.getByRole('alert'), 'The key is unknown')
  })

  test('of a user shows the turns of its key', async () => {
    await logIn('web-key')
    await at.reads(rows(), 'of-web')
    expect(await rows().count()).toBe(1)
    expect(await at.page.locator('.filters').getByLabel('Key').count()).toBe(0)
    await at.reads(at.page.locator('.who'), 'web user')
  })

  test('is a cookie that scripts cannot read, and no key is kept or in an address', async () => {
    const [cookie] = await at.page.context().cookies()
    expect(cookie).toMatchObject({ name: 'turnpike', httpOnly: true, sameSite: 'Strict', secure: false, path: '/' })
    expect(cookie!.value).not.toContain('web-key')
    const seen = await at.page.evaluate<string[]>(
      '[document.cookie, JSON.stringify({ ...localStorage }), location.href]',
    )
    expect(seen.join()).not.toMatch(/key=|web-key|turnpike=/)
  })

  test('stays over a reload, until the log-out', async () => {
    await at.page.reload()
    await at.reads(rows(), 'of-web')
    await at.page.getByRole('button', { name: 'Log out' }).click()
    await at.page.getByLabel('Key').waitFor()
    await at.page.reload()
    await at.page.getByLabel('Key').waitFor()
  })

  test('of an operator shows the turns of all keys, with a filter', async () => {
    await logIn('ops-key')
    await at.reads(rows(), 'of-web')
    await at.reads(rows(), 'of-ops')
    await at.page.locator('.filters').getByLabel('Key').selectOption('ops')
    await expect.poll(() => rows().count()).toBe(1)
    await at.reads(rows(), 'of-ops')
    expect(await at.opened.axe()).toEqual([])
  })

  test('of an operator shows the sessions of all keys, and deletes its own', async () => {
    await at.opened.go('sessions')
    const line = (session: string) => at.page.locator('tbody tr').filter({ hasText: session })
    expect(await line('of-web').locator('td').nth(3).textContent()).toBe('web')
    await line('of-web').getByRole('link').click()
    await at.reads(at.page.locator('.transcript'), 'hi')
    expect(await at.page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await at.opened.go('sessions')
    await line('of-ops').getByRole('link').click()
    await at.page.getByRole('button', { name: 'Delete' }).waitFor()
  })

  test('lets the page try agents', async () => {
    await at.opened.go('try?agent=talker')
    await at.page.getByLabel('Prompt').fill('hello')
    await at.page.getByRole('button', { name: 'Send' }).click()
    await at.reads(at.page.locator('.answer'), 'You said: hello')
  })
})
