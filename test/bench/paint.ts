/** The line of the console's page: how long a browser waits for it. */
import { NO_BROWSER, openBrowser } from '../kit/browser.ts'
import type { Group } from './bench.ts'
import { median } from './statistics.ts'
import { onceLine } from './table.ts'

/** Milliseconds from the request to the first content, in a browser that has loaded nothing before. */
async function firstPaint(browser: Awaited<ReturnType<typeof openBrowser>>, url: string): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  const painted = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
  const at = (await painted.jsonValue())!
  await context.close()
  return at
}

const page: Group = {
  name: 'paint',
  once: true,
  lines: [
    onceLine({
      name: 'paint',
      what: 'the console’s page on loopback: time to the first paint',
      unit: 'ms',
      budget: 1000,
    }),
  ],
  async round(bench) {
    const { port } = await bench.gateway('painted')
    const browser = await openBrowser()
    try {
      const times: number[] = []
      for (let at = 0; at < bench.amounts.times; at += 1)
        times.push(await firstPaint(browser, `http://127.0.0.1:${port}/console/`))
      return { paint: { figure: median(times), limit: 0 } }
    } finally {
      await browser.close()
    }
  },
}

/** All groups of this file; none without a Chromium. */
export const PAINT: readonly Group[] = NO_BROWSER ? [] : [page]
