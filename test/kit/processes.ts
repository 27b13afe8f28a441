/** The process table, for tests that must see that nothing is left. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** The processes whose command line holds the text. */
export function pidsOf(text: string): number[] {
  const found: number[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)) found.push(Number(name))
    } catch {
      // It ended while we looked.
    }
  }
  return found
}

/** True when a process has the file open. */
export function hasOpen(pid: number, path: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((name) => readlinkSync(`${folder}/${name}`) === path)
  } catch {
    // It ended, or closed something, while we looked.
    return false
  }
}

/** Waits until the condition holds, looking again every 20 ms; the test's own time-out bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20)
}
