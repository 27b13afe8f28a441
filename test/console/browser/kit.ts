import { join } from 'node:path'
import type { Browser, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { CONSOLE, type ConsolePage, openBrowser, openConsole } from '../../kit/browser.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../../kit/gateway.ts'

const TALKER = join(import.meta.dirname, '../agents/talker.mjs')

/** The agents of the console's tests. `talker` does what its prompt names, `hollow` has no program. */
export const AGENTS = `
default: talker
agents:${EXAMPLE_AGENTS}
  talker: { protocol: native, command: ${process.execPath}, args: [${TALKER}] }
  hollow: { protocol: zot, command: /nowhere/zot }
routes: [{ when: { agent: talker }, agent: talker, journal: wire }]
`

interface Door {
  protocol: string
  method?: string
  path?: string
}

/** A gateway and a page of its console, for the tests of one file. */
export class ConsoleTest {
  gateway!: TestGateway
  browser!: Browser
  opened!: ConsolePage

  get page() {
    return this.opened.page
  }

  /** Begins a turn and gives its answer; `more` are members of its body. */
  turn(agent: string, input: string, more: object = {}): Promise<Response> {
    return fetch(`${this.gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, ...more }),
    })
  }

  /** The newest turn of "Try it". */
  get trial(): Locator {
    return this.page.locator('.trial').last()
  }

  /** Opens "Try it" for an agent, through the endpoint of this path. */
  async tries(agent: string, path: string): Promise<void> {
    const { doors } = (await (await fetch(`${this.gateway.url}/v1/doors`)).json()) as { doors: Door[] }
    const { protocol } = doors.find((door) => door.method === 'POST' && door.path === path)!
    await this.opened.go(`try?agent=${agent}&door=${encodeURIComponent(`${protocol} · POST ${path}`)}`)
    await this.page.reload()
  }

  /** Sends a prompt from "Try it". */
  async sends(text: string): Promise<void> {
    await this.page.getByLabel('Prompt').fill(text)
    await this.page.getByRole('button', { name: 'Send' }).click()
  }

  /** Waits until a place of the page has this text. */
  async reads(place: Locator, text: string | RegExp): Promise<void> {
    await expect.poll(async () => (await place.allTextContents()).join('\n'), { timeout: 10_000 }).toMatch(text)
  }
}

/** Opens both before the tests of a file. Every test ends without errors, violations and requests elsewhere. */
export function useConsole(yaml: string | (() => Promise<string>) = AGENTS): ConsoleTest {
  const test = new ConsoleTest()
  beforeAll(async () => {
    const options = { console: { folder: CONSOLE, traces: 'https://traces.example/trace/{trace}' } }
    const config = typeof yaml === 'string' ? yaml : await yaml()
    ;[test.gateway, test.browser] = await Promise.all([startGateway(config, options), openBrowser()])
    test.opened = await openConsole(test.browser, test.gateway.url)
  })
  afterAll(async () => {
    await test.browser.close()
    await test.gateway.close()
  })
  afterEach(() => expect(test.opened.wrong).toEqual([]))
  return test
}
