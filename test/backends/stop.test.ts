import { existsSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { processBackend } from '../../src/backends/index.ts'
import { config, eventually, gone, isGone, node, numbers, open, run, startedIn, twoPids, WAYS } from './kit.ts'

describe.each(WAYS)('%s', (way) => {
  const started = startedIn(way)
  const shared = processBackend(config(started))

  afterAll(() => shared.close(0))

  test('SIGTERM lets an agent say goodbye; its group is gone with it', async () => {
    const call = open(shared, run('./obey-term.sh'))
    await call.until(() => numbers(call.text()).length === 2)
    call.handle.stop('cancelled', 60_000)
    expect(await call.ended).toStrictEqual({ why: 'cancelled', exitCode: 7 })
    expect(call.text()).toMatch(/goodbye\n$/)
    await gone(...twoPids(call.text()))
    expect(call.said).toStrictEqual(['started', 'data', 'end'])
  })

  test('an agent and its grandchild that ignore SIGTERM are killed after the grace', async () => {
    const call = open(shared, run('./ignore-term.sh'))
    await call.until(() => numbers(call.text()).length === 2)
    call.handle.stop('timeout', 50)
    expect(await call.ended).toStrictEqual({ why: 'timeout', signal: 'SIGKILL' })
    await gone(...twoPids(call.text()))
  })

  test('without a grace it is killed at once', async () => {
    const call = open(shared, run('./obey-term.sh'))
    await call.until(() => numbers(call.text()).length === 2)
    call.handle.stop('closed', 0)
    expect(await call.ended).toStrictEqual({ why: 'closed', signal: 'SIGKILL' })
  })

  test('the first reason stands, a later call may shorten the grace', async () => {
    const call = open(shared, run('./ignore-term.sh'))
    await call.until(() => numbers(call.text()).length === 2)
    call.handle.stop('cancelled', 600_000)
    call.handle.stop('closed', 0)
    expect(await call.ended).toStrictEqual({ why: 'cancelled', signal: 'SIGKILL' })
    expect(call.said).toStrictEqual(['started', 'data', 'end'])
  })

  test('a descendant that left the group is found too', async () => {
    const call = open(shared, node('leave-group.mjs'))
    await call.until(() => numbers(call.text()).length === 2)
    const pids = twoPids(call.text())
    expect(pids.map(isGone)).toStrictEqual([false, false])
    call.handle.stop('cancelled', 1_000)
    await call.ended
    await gone(...pids)
  })

  test.each([
    { crash: 'SIGKILL', args: [], end: { why: 'closed', signal: 'SIGKILL' } },
    { crash: 'code 1', args: ['1'], end: { why: 'closed', exitCode: 1 } },
  ])('a descendant of an agent that crashed with $crash is found, wherever it went', async ({ args, end }) => {
    const call = open(shared, node('leave-group.mjs', ...args))
    await call.until(() => numbers(call.text()).length === 2)
    const [agent, left] = twoPids(call.text())
    if (args.length === 0) process.kill(agent, 'SIGKILL')
    expect(await call.ended).toStrictEqual(end)
    await gone(left)
  })

  test('only descendants of the stopped call are', async () => {
    const kept = open(shared, node('leave-group.mjs'))
    const stopped = open(shared, node('leave-group.mjs'))
    await kept.until(() => numbers(kept.text()).length === 2)
    await stopped.until(() => numbers(stopped.text()).length === 2)
    stopped.handle.stop('cancelled', 1_000)
    await stopped.ended
    await gone(...twoPids(stopped.text()))
    expect(twoPids(kept.text()).map(isGone)).toStrictEqual([false, false])
    kept.handle.stop('cancelled', 1_000)
    await kept.ended
    await gone(...twoPids(kept.text()))
  })

  test('a paused agent that floods its output is ended', async () => {
    const call = open(shared, run('yes'))
    await call.until(() => call.text() !== '')
    call.handle.pause()
    call.handle.stop('cancelled', 60_000)
    expect(await call.ended).toStrictEqual({ why: 'cancelled', signal: 'SIGTERM' })
  })

  test('a paused call whose process has exited ends when it is stopped', async () => {
    const call = open(shared, run('./hold-output.sh'))
    await call.until(() => call.said.includes('started'))
    call.handle.pause()
    await collected(call.handle.pid)
    call.handle.stop('timeout', 60_000)
    expect(call.said).not.toContain('end')
    expect(await call.ended).toStrictEqual({ why: 'timeout', exitCode: 0 })
  })

  test('a stopped call whose process has exited ends when it is paused', async () => {
    const call = open(shared, run('sh', '-c', '(trap "" TERM; exec sleep 600) & trap "exit 5" TERM; echo ready; wait'))
    await call.until(() => call.text() === 'ready\n')
    call.handle.stop('cancelled', 60_000)
    await collected(call.handle.pid)
    call.handle.pause()
    expect(await call.ended).toStrictEqual({ why: 'cancelled', exitCode: 5 })
  })

  test('before a failed start is known, its reason is the end', async () => {
    const missing = open(shared, run('no-such-command'))
    missing.handle.stop('cancelled', 0)
    expect(await missing.ended).toStrictEqual({ why: 'cancelled' })
    const refused = open(shared, run('echo', 'a\0b'))
    refused.handle.stop('timeout', 0)
    expect(await refused.ended).toStrictEqual({ why: 'timeout' })
  })

  test('close stops what runs, then refuses', async () => {
    const closing = processBackend(config(started))
    const calls = [open(closing, run('./obey-term.sh')), open(closing, run('./ignore-term.sh'))]
    for (const call of calls) await call.until(() => numbers(call.text()).length === 2)
    await Promise.all([closing.close(100), closing.close(100)])
    for (const call of calls) {
      expect(await call.ended).toMatchObject({ why: 'cancelled' })
      await gone(...twoPids(call.text()))
    }
    await closing.close(0)
    expect(await open(closing, run('echo')).ended).toStrictEqual({
      why: 'failed',
      fault: {
        code: 'agent-unavailable',
        message: 'The gateway is shutting down; try again when it is back.',
        retryable: true,
      },
    })
  })

  /** Resolves when a child of this process has ended and its exit was told. */
  async function collected(pid: number | undefined): Promise<void> {
    await eventually(() => !existsSync(`/proc/${pid}`))
  }
})
