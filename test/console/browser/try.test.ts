import { describe, expect, test } from 'vitest'
import { NO_BROWSER } from '../../kit/browser.ts'
import { useConsole } from './kit.ts'

describe.skipIf(NO_BROWSER)('trying an agent in Chromium', () => {
  const at = useConsole()
  const last = () => at.page.locator('.trial').last()
  const open = async (agent: string, door: string): Promise<void> => {
    await at.opened.go(`try?agent=${agent}&door=${encodeURIComponent(door)}`)
    await at.page.reload()
  }
  const send = async (text: string): Promise<void> => {
    await at.page.getByLabel('Prompt').fill(text)
    await at.page.getByRole('button', { name: 'Send' }).click()
  }

  test('streams the answer, beside the wire of the client', async () => {
    await open('talker', 'native@http · POST /v1/turns')
    await send('hello there')
    await at.reads(last().locator('.answer'), 'You said: hello there')
    await last()
      .getByText(/What the client of/)
      .click()
    await at.reads(last().locator('pre.out'), 'event: text-delta')
    await at.reads(last().locator('pre.in'), 'POST /v1/turns')
    expect(await at.opened.axe()).toEqual([])
  })

  test('answers an approval with the options of the agent', async () => {
    await send('approval')
    await last().getByText('May the agent use').waitFor()
    expect(await last().getByLabel('A question of the agent').getByRole('button').allTextContents()).toEqual([
      'Allow once',
      'Deny',
    ])
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('try-approval')
    await last().getByRole('button', { name: 'Allow once' }).click()
    await at.reads(last().locator('.answer'), 'You chose yes.')
    expect(await last().getByLabel('A question of the agent').count()).toBe(0)
  })

  test('answers an input by a form of its schema', async () => {
    await send('input')
    await last().getByLabel(/Tag/).fill('v1.2')
    await last().getByLabel('Channel').selectOption('beta')
    await last().getByLabel('Dry run').check()
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('try-input')
    await last().getByRole('button', { name: 'Answer' }).click()
    await at.reads(last().locator('.answer'), '{"tag":"v1.2","count":2,"channel":"beta","dry":true}')
  })

  test('cancels', async () => {
    await send('wait')
    await last().getByRole('button', { name: 'Cancel' }).click()
    await at.reads(last().locator('.end'), 'cancelled')
  })

  test('goes on in the session, until a new one is wanted', async () => {
    await open('coder', 'zot · POST /v1/zot')
    await send('one')
    await at.reads(last().locator('.answer'), /You said: one \(turn 1 of this session\)/)
    await at.reads(last().locator('.state'), 'completed')
    await send('two')
    await at.reads(last().locator('.answer'), /You said: two \(turn 2 of this session\)/)
    await at.page.getByRole('button', { name: 'New session' }).click()
    expect(await at.page.locator('.trial').count()).toBe(0)
    await send('three')
    await at.reads(last().locator('.answer'), /You said: three \(turn 1 of this session\)/)
  })

  test('asks through other endpoints, also those whose answers are whole', async () => {
    await open('talker', 'openai@chat · POST /v1/chat/completions')
    await send('hello')
    await at.reads(last().locator('.answer'), 'You said: hello')
    await open('talker', 'zene · POST /v1/zene')
    await send('hello')
    await at.reads(last().locator('.answer'), 'You said: hello')
    await last()
      .getByText(/What the client of/)
      .click()
    await at.reads(last().locator('pre.out'), '"ok":true')
  })

  test('has a second question wait for the first one of its session', async () => {
    await open('talker', 'zene · POST /v1/zene')
    await send('wait')
    await at.reads(last().locator('.state'), 'starting')
    await send('hello')
    await at.reads(last().locator('.state'), 'queued')
    const first = at.page.locator('.trial').first()
    await first.getByRole('button', { name: 'Cancel' }).click()
    await at.reads(first.locator('.end'), 'cancelled')
    await at.reads(last().locator('.answer'), 'You said: hello')
  })

  test('shows a turn as a client of a protocol without an endpoint has it, and the command of that client', async () => {
    await open('talker', 'acp · a program on stdio')
    await at.reads(at.page.locator('.program pre'), 'turnpike as acp --agent talker')
    await send('hello editor')
    await at.reads(last().locator('.answer'), 'You said: hello editor')
    await last()
      .getByText(/What a client of acp/)
      .click()
    const client = last().locator('details').filter({ hasText: 'What a client of acp' })
    await at.reads(client.locator('pre.in'), /"method":"initialize".*"method":"session\/prompt".*hello editor/s)
    await at.reads(client.locator('pre.out'), /"sessionUpdate":"agent_message_chunk".*editor.*"stopReason":"end_turn"/s)
    await last()
      .getByText(/What the agent was told and said \(native\)/)
      .click()
    await at.reads(last().locator('pre.out').last(), 'hello editor')
    expect(await at.opened.axe()).toEqual([])
    await at.opened.shot('try-stdio')
  })

  test('says why an agent cannot be used', async () => {
    await open('hollow', 'native@http · POST /v1/turns')
    await send('hi')
    await at.reads(last(), 'agent-unavailable')
  })
})
