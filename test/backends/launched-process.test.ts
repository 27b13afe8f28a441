import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { LaunchedProcess } from '../../src/backends/launched-process.ts'
import { gone } from './kit.ts'

const pids: number[] = []

afterEach(() => {
  for (const pid of pids.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It is gone, as it is to be.
    }
  }
})

/** A launched process, and what is said of it; `failed` comes with the code of its error. */
function launch(shortInput = false) {
  const said: string[] = []
  let tell: () => void
  const failed = new Promise<void>((resolve) => {
    tell = resolve
  })
  const events = {
    started: () => said.push('started'),
    failed(error: unknown) {
      said.push(`failed ${(error as { code: string }).code}`)
      // As those do that run calls.
      launched.close()
      tell()
    },
    exited: () => said.push('exited'),
    output() {},
    outputEnded() {},
    log() {},
  }
  const owner = { order: () => said.push('ordered'), over: () => said.push('over') }
  const launched = new LaunchedProcess(events, shortInput, owner)
  return { launched, said, failed }
}

async function sleeper(): Promise<number> {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  pids.push(child.pid!)
  return child.pid!
}

describe('a launched process', () => {
  test.each([
    ['none of its streams', []],
    ['only its stdout', ['out']],
    ['all but its stdout', ['in', 'err']],
  ] as const)(
    'that comes with %s has failed, is killed and forgotten, whether or not it ends',
    async (_what, channels) => {
      const fate = async (ends: boolean): Promise<void> => {
        const { launched, said, failed } = launch()
        for (const channel of channels) launched.connected(channel, new Socket())
        const pid = await sleeper()
        launched.started(pid)
        // An exit without the output that was to be read is no answer.
        if (ends) launched.exited(0, null)
        await failed
        await gone(pid)
        if (!ends) launched.exited(null, 'SIGKILL')
        expect(said).toStrictEqual(['ordered', 'started', 'failed EMFILE', 'over'])
      }
      await Promise.all([fate(true), fate(false)])
    },
  )

  test('that is closed before it was ordered is forgotten', () => {
    const { launched, said } = launch(true)
    launched.close()
    launched.endInput()
    expect(said).toStrictEqual(['over'])
  })
})
