import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createReaper, signalGroup } from '../../src/backends/index.ts'
import { eventually, FIXTURES, gone, isGone, numbers, processesWith, STARTER, twoPids } from './kit.ts'

const started: number[] = []

afterEach(() => {
  for (const pid of started.splice(0)) signalGroup(pid, 'SIGKILL')
})

/** Environments of a gateway that starts agents itself, and of one with a starter. */
const DIRECTLY = {}
// What is left of a starter that was killed with its gateway is an empty folder for its socket.
const STARTED = { STARTER, TMPDIR: mkdtempSync(join(tmpdir(), 'turnpike-reaper-')) }

afterAll(() => rmSync(STARTED.TMPDIR, { recursive: true }))

/** A gateway in a process of its own that starts these agents; resolves when the output holds that many numbers. */
async function gateway(
  pids: number,
  env: Record<string, string>,
  ...agents: string[]
): Promise<{ gateway: ChildProcess; pids: number[] }> {
  const child = spawn(process.execPath, [`${FIXTURES}/gateway.ts`, ...agents], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const piece of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += piece
    if (text.endsWith('\n') && numbers(text).length >= pids) break
  }
  child.stdout.resume()
  expect(numbers(text)).toHaveLength(pids)
  return { gateway: child, pids: numbers(text) }
}

const leaveGroup = `${process.execPath} ${FIXTURES}/leave-group.mjs`

describe('a gateway that is gone', () => {
  test('by SIGKILL, leaves no agent, no grandchild, none that left its group', async () => {
    const { gateway: killed, pids } = await gateway(6, DIRECTLY, './ignore-term.sh', './obey-term.sh', leaveGroup)
    expect(pids.map(isGone)).toStrictEqual(pids.map(() => false))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    await gone(...pids)
  })

  test('by SIGKILL, leaves no starter and none of its agents either', async () => {
    const { gateway: killed, pids } = await gateway(7, STARTED, './ignore-term.sh', './obey-term.sh', leaveGroup)
    const [starter, ...agents] = pids
    expect(readFileSync(`/proc/${starter}/cmdline`, 'utf8')).toContain(STARTER)
    expect(agents.map(isGone)).toStrictEqual(agents.map(() => false))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    await gone(...pids)
  })

  test('together with its starter, leaves none of its agents', async () => {
    const { gateway: killed, pids } = await gateway(7, STARTED, './ignore-term.sh', './obey-term.sh', leaveGroup)
    killed.kill('SIGKILL')
    process.kill(pids[0]!, 'SIGKILL')
    await gone(...pids)
  })

  test('with a starter that does not move, leaves neither it nor its agents', async () => {
    const { gateway: killed, pids } = await gateway(3, STARTED, './ignore-term.sh')
    process.kill(pids[0]!, 'SIGSTOP')
    killed.kill('SIGKILL')
    await gone(...pids)
  })

  test('by its own end, leaves no descendant of an agent that had ended', async () => {
    const { gateway: ended, pids } = await gateway(2, DIRECTLY, `${leaveGroup} 0`)
    // The sidecar does not keep it alive.
    if (ended.exitCode === null) await once(ended, 'exit')
    expect(ended.exitCode).toBe(0)
    await gone(...pids)
  })
})

describe('the sidecar', () => {
  test('kills a group that ignores SIGTERM when the gateway is gone, also without a cookie', async () => {
    const stubborn = spawn(`${FIXTURES}/ignore-term.sh`, { detached: true })
    started.push(stubborn.pid ?? 0)
    const [pids] = await once(stubborn.stdout.setEncoding('utf8'), 'data')
    const watcher = spawn(process.execPath, [`${FIXTURES}/watch-group.ts`, String(stubborn.pid)])
    await once(watcher.stdout, 'data')
    watcher.kill('SIGKILL')
    await gone(...twoPids(String(pids)))
  })

  /** A process group that only its pid tells of: it holds no cookie. */
  function group(env: Record<string, string> = {}): number {
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: { ...process.env, ...env } })
    if (child.pid === undefined) throw new Error('sleep did not start')
    started.push(child.pid)
    return child.pid
  }

  /** The sidecar's own process; its command line holds the part that all cookies of a run begin with. */
  async function sidecar(cookie: string): Promise<number> {
    let found: number[] = []
    await eventually(() => {
      found = processesWith(`turnpike-reaper\0${cookie.split('.')[0]}.`)
      return found.length === 1
    })
    return found[0] ?? 0
  }

  test('cookies of one run begin alike and none is the start of another', () => {
    const reaper = createReaper()
    const cookies = Array.from({ length: 12 }, () => reaper.cookie())
    const run = `${cookies[0]?.split('.')[0]}.`
    expect(createReaper().cookie().startsWith(run)).toBe(false)
    expect(cookies).toStrictEqual(cookies.map((_, index) => `${run}${index + 1}.`))
  })

  test('sweeps the processes with one cookie and no other', async () => {
    const reaper = createReaper()
    const [one, other] = [reaper.cookie(), reaper.cookie()]
    const swept = group({ TURNPIKE_COOKIE: one })
    const kept = group({ TURNPIKE_COOKIE: other })
    const watched = group()
    reaper.watch(watched)
    reaper.sweep(one)
    await gone(swept)
    reaper.forget(watched)
    expect(isGone(kept)).toBe(false)
    process.kill(await sidecar(one), 'SIGKILL')
  })

  test('is started again when it was killed, and knows the groups from before', async () => {
    const reaper = createReaper()
    const cookie = reaper.cookie()
    const [first, second, third] = [group(), group(), group({ TURNPIKE_COOKIE: cookie })]
    reaper.watch(first)
    const killed = await sidecar(cookie)
    process.kill(killed, 'SIGKILL')
    await gone(killed)
    await eventually(() => {
      reaper.watch(second)
      return processesWith(`turnpike-reaper\0${cookie.split('.')[0]}.`).length === 1
    })
    reaper.sweep(cookie)
    await gone(third)
    expect([first, second].map(isGone)).toStrictEqual([false, false])
    process.kill(await sidecar(cookie), 'SIGKILL')
  })

  test('is not ended by the signals that end a gateway', async () => {
    const reaper = createReaper()
    const cookie = reaper.cookie()
    const [watched, swept] = [group(), group({ TURNPIKE_COOKIE: cookie })]
    reaper.watch(watched)
    const pid = await sidecar(cookie)
    // It sets its traps before it reads: what it has swept it has read.
    reaper.sweep(cookie)
    await gone(swept)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal)
    const next = group({ TURNPIKE_COOKIE: cookie })
    reaper.sweep(cookie)
    await gone(next)
    expect(isGone(pid)).toBe(false)
    process.kill(pid, 'SIGKILL')
  })
})
