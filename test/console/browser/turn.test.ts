import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { useConsole } from './kit.ts'

describe.skipIf(NO_BROWSER)('a turn in Chromium', () => {
  const at = useConsole()
  const lines = () => at.page.locator('.side-row:not(.side-heading)')

  const TRACE = '0af7651916cd43dd8448eb211c80319c'
  const copied = async (button: string): Promise<string> => {
    await at.page.getByRole('button', { name: button }).click()
    return at.page.evaluate<string>('navigator.clipboard.readText()')
  }

  test('shows where its time went, both wires beside its events, and what was lost at them', async () => {
    const answer = await fetch(`${at.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
      },
      body: '{"model":"talker","max_tokens":9,"messages":[{"role":"user","content":"think"}]}',
    })
    const turn = answer.headers.get('turnpike-turn')!
    await at.opened.go(`turns/${turn}`)
    await at.page.getByRole('heading', { name: turn }).waitFor()
    await at.page.getByRole('img', { name: /^Where the time went: / }).waitFor()
    await at.reads(lines(), 'text-delta')
    await at.reads(at.page.locator('.side-tools'), 'Both wires as they were.')
    const first = lines().filter({ hasText: 'turn-accepted' })
    expect(await first.locator('.client').textContent()).toMatch(/client said.*POST \/v1\/messages.*"content":"think"/)
    const thought = lines().filter({ hasText: 'reasoning-delta' }).first()
    expect(await thought.locator('.agent').textContent()).toMatch(/agent said.*Let me see\./)
    const lost = at.page.locator('.has-loss').filter({ hasText: 'usage.costUsd did not arrive' })
    expect(await lost.locator('.type').textContent()).toBe('usage')
    const trace = at.page.getByRole('link', { name: TRACE })
    expect(await trace.getAttribute('href')).toBe(`https://traces.example/trace/${TRACE}`)
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('turn')
  })

  test('can be copied: as a request that works, as input of translate, as a sample', async () => {
    await at.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const request = await copied('as curl')
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', request])
    expect(JSON.parse(stdout)).toMatchObject({
      content: [{ type: 'thinking' }, { type: 'text', text: 'Seen.' }],
    })
    expect(await copied('as translate input')).toContain('{"type":"agent-ready","model":"small-1","version":"1.4.0"}')
    const sample = await copied('a sample for a report')
    expect(sample).toContain('anthropic -> native, completed')
    expect(sample).not.toMatch(/"think"|Seen|Let me/)
  })

  test('whose wires were not kept shows its events in both protocols, and says how to keep them', async () => {
    const answer = await at.turn('coder', 'hello')
    const { turn } = (await answer.json()) as { turn: string }
    await at.opened.go(`turns/${turn}`)
    await at.reads(at.page.locator('.side-tools'), /were not kept: .*encoded again\. .*journal: wire/)
    await at.reads(lines().locator('.agent'), '"type":"text_delta"')
    await at.reads(lines().locator('.client'), '"type":"turn-start"')
    expect(await at.opened.axe()).toEqual([])
    const [said] = (await copied('as curl')).split('\n')
    expect(said).toContain(`curl -sN ${at.gateway.url}/v1/turns -H`)
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
