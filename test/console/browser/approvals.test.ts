/** Questions of agents, answered from "Try it": through every endpoint, and of agents of every protocol that asks. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { DOORS } from '../../../console/logic/doors.ts'
import { type AskingEngine, startAskingEngine } from '../../kit/asking-engine.ts'
import { BACKS, EDITED, type Json } from '../../kit/asking-table.ts'
import { NO_BROWSER } from '../../kit/browser.ts'
import { AGENTS, useConsole } from './kit.ts'

const ASKER = join(import.meta.dirname, '../../kit/agents/asker.sh')
const AGENT = (name: string): string => `command: ${process.execPath}, args: [${join(import.meta.dirname, name)}]`
const nameOf = (back: string): string => back.replace('@0.4', '-4')

describe.skipIf(NO_BROWSER)('a question of an agent in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-console-'))
  let engine: AskingEngine | undefined
  const at = useConsole(async () => {
    engine = await startAskingEngine(folder)
    const { url } = engine
    const askers = Object.entries(BACKS).map(([back, { config }]) => {
      const reached = back === 'openharness' ? `url: "${url}"` : `command: ${ASKER}, args: ["${back}", "${folder}"]`
      return `  ${nameOf(back)}: { ${config}, ${reached} }\n`
    })
    return AGENTS.replace(
      'routes:',
      `${askers.join('')}
  claude: { protocol: claude-code, ${AGENT('../agents/claude.mjs')} }
  codex: { protocol: codex, ${AGENT('../../kit/agents/codex.mjs')}, env: { THREADS: "${folder}/threads" } }
  acp: { protocol: acp, ${AGENT('../../kit/agents/acp.mjs')} }
routes:`,
    )
  })
  afterAll(() => {
    engine?.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const question = () => at.trial.getByLabel('A question of the agent')
  const options = async (): Promise<string[]> => {
    await question().getByRole('button').first().waitFor()
    return question().getByRole('button').allTextContents()
  }
  const choose = (name: string) => question().getByRole('button', { name, exact: true }).click()

  test.each(DOORS)('%s: is answered by the page, and a second one in the session too', async (path) => {
    await at.tries('talker', path)
    for (const [option, said] of [
      ['Allow once', 'You chose yes.'],
      ['Deny', 'You chose no.'],
    ] as const) {
      await at.sends('approval')
      expect(await options()).toEqual(['Allow once', 'Deny'])
      await choose(option)
      await at.reads(at.trial.locator('.answer'), said)
      await at.reads(at.trial.locator('.state'), 'completed')
      expect(await question().count()).toBe(0)
    }
    await at.trial.getByText(/What the client of/).click()
    await at.reads(at.trial.locator('pre.out'), /chose/)
    await at.sends('input')
    await at.trial.getByLabel('Tag').fill('v1.2')
    await choose('Answer')
    await at.reads(at.trial.locator('.answer'), '{"tag":"v1.2","count":2,"dry":false}')
    await at.sends('approval')
    await options()
    await at.trial.getByRole('button', { name: 'Cancel' }).click()
    await at.reads(at.trial.locator('.end'), 'cancelled')
  })

  test.each(Object.keys(BACKS))('of %s has its options, and takes other arguments where it can', async (back) => {
    const { rich, edited, says } = BACKS[back]!
    const before = readdirSync(folder)
    const labels = rich ? ['Yes', 'Always from now on', 'No'] : back === 'qwen-code' ? ['Yes', 'No'] : ['Allow', 'Deny']
    await at.tries(nameOf(back), '/v1/turns')
    await at.sends(`${nameOf(back)}-told`)
    expect(await options()).toEqual([...labels, ...(edited ? ['Change the arguments'] : [])])
    if (edited) {
      await choose('Change the arguments')
      const field = question().getByLabel('Arguments, as they are to run')
      expect(await field.inputValue()).toBe('{\n  "path": "/x",\n  "n": 1.0\n}')
      await field.fill('[1]')
      await choose(`${labels[0]} with these arguments`)
      await at.reads(question(), 'The arguments are no JSON object.')
      await field.fill(EDITED)
      expect(await at.opened.axe()).toEqual([])
      await choose(`${labels[0]} with these arguments`)
    } else await choose(labels[0]!)
    await at.reads(at.trial.locator('.answer'), 'told')
    const [heard] = readdirSync(folder).filter((name) => !before.includes(name))
    const line = readFileSync(join(folder, heard!), 'utf8').trimEnd()
    expect(BACKS[back]!.told(JSON.parse(line) as Json)).toEqual(edited ?? says.allow)
    // Digits are not rounded on the way.
    if (edited) expect(line).toContain(EDITED)
  })

  test('of Claude Code has the rules that it proposes, and takes another command', async () => {
    await at.tries('claude', '/v1/chat/completions')
    await at.sends('hello')
    const proposed = 'Allow from now on: Bash(ls *) for this session'
    expect(await options()).toEqual(['Allow', proposed, 'Deny', 'Change the arguments'])
    await choose(proposed)
    await at.reads(at.trial.locator('.answer'), 'allow {"command":"ls"} 1')
    await at.sends('again')
    await choose('Change the arguments')
    await question().getByLabel('Arguments, as they are to run').fill('{"command":"ls -l"}')
    await choose('Allow with these arguments')
    await at.reads(at.trial.locator('.answer'), 'allow {"command":"ls -l"} 0')
  })

  test.each([
    [
      'codex',
      'ask ls',
      ['Allow', 'Allow for this session', 'Deny', 'Deny, and stop the turn'],
      'The command was completed.',
    ],
    ['acp', 'Run', ['Allow', 'Deny'], 'It was not allowed.'],
  ] as const)('of %s has its options, and no arguments to change', async (agent, prompt, labels, said) => {
    await at.tries(agent, '/v1/zene')
    await at.sends(prompt)
    expect(await options()).toEqual(labels)
    await choose(agent === 'acp' ? 'Deny' : 'Allow')
    await at.reads(at.trial.locator('.answer'), said)
  })
})
