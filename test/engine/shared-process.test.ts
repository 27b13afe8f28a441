import { describe, expect, test } from 'vitest'
import { SharedProcess } from '../../src/engine/agent/shared-process.ts'
import { until } from '../kit/processes.ts'
import { nextStep, sharedProcesses } from '../kit/shared.ts'

describe('a process of several sessions', () => {
  test('gives each what is for it', () => {
    const { open, backend } = sharedProcesses(3, 1)
    const [one, two] = [open(), open()]
    one.handle.write('ask\n')
    two.handle.write('hi\n')
    backend.call.say('1 a\n2 b\n3 c\n1 d')
    backend.call.say('\n')
    expect([one.read, two.read, one.started, two.started]).toEqual(['a\nd\n', 'b\n', 1, 1])
    expect([backend.calls.length, backend.call.written, one.handle.pid]).toEqual([1, ['1 ask\n', '2 hi\n'], 7])
  })

  test('ends every session with it, as it has ended', () => {
    const { open, backend, it } = sharedProcesses(2, 1)
    const [one, two] = [open(), open()]
    const end = { why: 'closed', exitCode: 3, stderr: 'why' } as const
    backend.call.closeOutput()
    backend.call.end({ ...end, unread: true })
    expect([one.end, two.end, one.outputEnded, it.size]).toEqual([end, end, 1, 0])
  })

  test('says of its only session that nothing was read', () => {
    const { open, backend } = sharedProcesses(2, 1)
    const one = open()
    backend.call.end({ why: 'closed', exitCode: 3, unread: true })
    expect(one.end).toEqual({ why: 'closed', exitCode: 3, unread: true })
  })

  test('is stopped with its last session', async () => {
    const { open, backend, it } = sharedProcesses(2, 1)
    const [one, two] = [open(), open()]
    one.handle.stop('closed', 50)
    await nextStep()
    expect([one.end, two.end, backend.call.stops]).toEqual([{ why: 'closed' }, undefined, []])
    two.handle.stop('cancelled', 50)
    expect([two.end, backend.call.stops, it.size]).toEqual([{ why: 'cancelled' }, ['cancelled'], 0])
  })

  test('stays for the others when a session is stopped: its end comes when the agent has stopped', async () => {
    const { open, backend } = sharedProcesses(2, 1)
    const [one, two] = [open(), open()]
    one.handle.write('ask\n')
    one.handle.stop('cancelled', 10_000)
    await nextStep()
    expect([one.end, backend.call.written]).toEqual([undefined, ['1 ask\n', '1 leave\n']])
    backend.call.say('1 late\n1 done\n2 more\n')
    expect([one.end, one.read, two.read, two.end]).toEqual([{ why: 'cancelled' }, '', 'more\n', undefined])
  })

  test('takes nobody new once a session does not stop, and ends when the others are done', async () => {
    const { open, backend, it } = sharedProcesses(2, 2)
    const [one, two] = [open(), open()]
    one.handle.write('ask\n')
    two.handle.write('ask\n')
    one.handle.stop('timeout', 1)
    await until(() => one.end !== undefined)
    expect(one.end).toEqual({ why: 'timeout' })
    const three = open()
    expect([backend.calls.length, two.end]).toEqual([2, undefined])
    backend.calls[0]!.say('1 late\n2 done\n')
    expect([one.read, two.read, two.end]).toEqual(['', 'done\n', { why: 'closed' }])
    expect([backend.calls[0]!.stops, three.end, it.size]).toEqual([['closed'], undefined, 1])
  })

  test('waits for a reader only when too much is kept', () => {
    const { open, backend } = sharedProcesses(2, 1)
    const [one, two] = [open(), open()]
    one.handle.pause()
    backend.call.say('1 little\n')
    expect(backend.call.paused).toBe(false)
    for (let at = 0; at < 17; at += 1) backend.call.say(`1 ${'x'.repeat(65_000)}\n`)
    backend.call.say('2 b\n')
    expect([backend.call.paused, one.read, two.read]).toEqual([true, '', 'b\n'])
    one.handle.resume()
    expect([backend.call.paused, one.read.length]).toEqual([false, 17 * 65_001 + 7])
  })

  test('that cannot be read ends every session, and is stopped', () => {
    const { open, backend } = sharedProcesses(2, 1)
    const [one, two] = [open(), open()]
    backend.call.say('x'.repeat(70_000))
    expect([one.end, two.end]).toMatchObject([
      { why: 'failed', fault: { code: 'protocol-violation' }, unreadable: true },
      { why: 'failed', fault: { code: 'protocol-violation' }, unreadable: true },
    ])
    expect(backend.call.stops).toEqual(['closed'])
  })

  test('is of one session where nothing else is said', () => {
    const { agent } = sharedProcesses(1, 1)
    const { sessions: _, ...pool } = agent.pool
    const it = new SharedProcess({ ...agent, pool }, 'key', { crowded: false, serve() {}, exited() {} })
    expect([it.hasRoom, it.isIdle, it.pid]).toEqual([true, true, undefined])
  })
})
