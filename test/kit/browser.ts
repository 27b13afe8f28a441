/** A real Chromium that looks at the console of a test's gateway. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { ROOT } from './gateway.ts'

/** The built console; `node deploy/build.mjs` makes it. */
export const CONSOLE = join(ROOT, 'dist/console')

/** Where screenshots are kept, for people to look at after a run. */
const SHOTS = join(ROOT, 'coverage/console')

/** Where Debian has the browser. */
const CHROMIUM = '/usr/bin/chromium'

/** True where there is no Chromium, or the console is not built: tests with a browser are skipped. */
export const NO_BROWSER = !existsSync(CHROMIUM) || !existsSync(join(CONSOLE, 'index.html'))

/** Starts the browser. */
export function openBrowser(): Promise<Browser> {
  // As root, as in containers of CI, it has no sandbox.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** A page of the console, with what went wrong on it: every test ends with `wrong` being empty. */
export interface ConsolePage {
  page: Page
  /** Errors of scripts, violations of the policy, requests to other servers. */
  wrong: string[]
  /** Shows an address of the console, such as `turns?agent=coder`. */
  go(address: string): Promise<void>
  /** The rules of accessibility that the page breaks in light or dark, with the elements. */
  axe(): Promise<string[]>
  /** Keeps a picture of the page under this name. */
  shot(name: string): Promise<void>
  close(): Promise<void>
}

/** Opens the console of a gateway in a context of its own, without cookies of others. */
export async function openConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const wrong: string[] = []
  await keepHome(context, url, wrong)
  const page = await context.newPage()
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A refusal is an answer that the browser reports as an error of loading.
    if (message.type() === 'error' && !/status of [45]\d\d/.test(message.text())) wrong.push(message.text())
  })
  return {
    page,
    wrong,
    go: async (address) => void (await page.goto(`${url}/console/#/${address}`)),
    axe: () => inBothColours(page),
    async shot(name) {
      mkdirSync(SHOTS, { recursive: true })
      await page.screenshot({ path: join(SHOTS, `${name}.png`) })
    },
    close: () => context.close(),
  }
}

/** Lets the page reach its gateway alone, and notes what else it asks for. */
async function keepHome(context: BrowserContext, url: string, wrong: string[]): Promise<void> {
  await context.route('**', (route) => {
    const asked = route.request().url()
    if (asked.startsWith(`${url}/`)) return route.continue()
    wrong.push(`request to ${asked}`)
    return route.abort()
  })
}

async function inBothColours(page: Page): Promise<string[]> {
  const isDark = await page.evaluate(() => {
    const { matchMedia } = globalThis as unknown as { matchMedia(query: string): { matches: boolean } }
    return matchMedia('(prefers-color-scheme: dark)').matches
  })
  const [own, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  const there = await violations(page)
  await page.emulateMedia({ colorScheme: own })
  return [...there.map((found) => `${other}: ${found}`), ...(await violations(page))]
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

interface Violation {
  id: string
  nodes: { target: string[] }[]
}
