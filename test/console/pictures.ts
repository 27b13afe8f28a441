/**
 * `node test/console/pictures.ts` makes the pictures of the console in docs/images, each in both colour schemes, from the
 * real page of a gateway with an agent that reviews code. The console has to be built.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONSOLE, openBrowser, openConsole } from '../kit/browser.ts'
import { EXAMPLE_AGENTS, ROOT, startGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const REVIEWER = join(import.meta.dirname, 'agents/reviewer.mjs')
const IMAGES = join(ROOT, 'docs/images')
const VIEW = { viewport: { width: 1120, height: 660 }, deviceScaleFactor: 1.5 }

const gateway = await startGateway(
  `
default: reviewer
agents:${EXAMPLE_AGENTS}
  reviewer: { protocol: native, command: ${process.execPath}, args: [${REVIEWER}] }
  nightly: { protocol: native, command: ${process.execPath}, args: [-e, "console.error('ENOSPC: no space left on device'); process.exit(1)"] }
routes: [{ when: { agent: reviewer }, agent: reviewer, journal: wire }]
`,
  { console: { folder: CONSOLE } },
)

async function send(path: string, body: object, headers: Record<string, string> = {}): Promise<void> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  await (await fetch(gateway.url + path, init)).text()
}
const native = (agent: string, input: string, session: string): Promise<void> =>
  send(`/v1/turns/${agent}`, { input, session: { id: session } })
const messages = (content: string) => [{ role: 'user', content }]

// What a morning brings: clients of several protocols, some turns at once, and a failure.
await native('coder', 'rename the cache', 'refactor-cache')
await send('/v1/zene/reviewer', { request_id: 'r1', session_id: 'bridge-7', prompt: 'Why is the import slow?' })
await native('nightly', 'back up', 'nightly-backup')
await Promise.all([1, 2, 3].map((at) => native('reviewer', `Review change ${at} of the loader`, 'loader')))
await send('/v1/chat/completions', { model: 'reviewer', messages: messages('Review the parser') })
await native('helper', 'What is on today?', 'morning')
await send('/v1/messages', { model: 'reviewer', max_tokens: 300, messages: messages('Explain the loader.') })
await send('/v1/openharness', {
  protocol_version: '1.0.0',
  request_id: 'r2',
  request: { context: { session_id: 'harness-2', user_intent: 'Review the loader' } },
})
const asking = { input: 'Clean up', agent: 'reviewer', session: { id: 'cleanup' } }
await send('/v1/turns', asking, { prefer: 'respond-async' })
await until(async () => (await turnsOf('session=cleanup')).some(({ phase }) => phase === 'parked'))

async function turnsOf(query: string): Promise<{ turn: string; phase?: string }[]> {
  const answer = await fetch(`${gateway.url}/v1/turns?${query}`)
  return ((await answer.json()) as { turns: { turn: string; phase?: string }[] }).turns
}

const browser = await openBrowser()
const [shown] = await turnsOf('front=anthropic')
for (const colorScheme of ['light', 'dark'] as const) {
  const { page, go, close } = await openConsole(browser, gateway.url, { ...VIEW, colorScheme })
  const keep = async (name: string): Promise<void> => {
    const file = `console-${name}${colorScheme === 'dark' ? '-dark' : ''}.png`
    await page.screenshot({ path: join(IMAGES, file), animations: 'disabled' })
  }
  await page.route('**/console/settings', (route) => route.fulfill({ json: { version: VERSION } }))
  await go('overview')
  await page.getByText('ENOSPC').waitFor()
  await keep('overview')
  await go('turns')
  await page.locator('.turn-row').nth(8).waitFor()
  await keep('turns')
  await go(`turns/${shown!.turn}`)
  await page.getByText('Copy').first().waitFor()
  await page.locator('.side-row').nth(4).waitFor()
  await keep('turn')
  await go('try?agent=reviewer')
  await page.getByLabel('Prompt').fill('Clean up the old build')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Delete it' }).waitFor()
  await page.locator('.trial .state').getByText('asking').waitFor()
  await keep('try')
  await page.getByRole('button', { name: 'Keep it' }).click()
  await page.getByText('It stays.').waitFor()
  await close()
}
await browser.close()
await gateway.close()
