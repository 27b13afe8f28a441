import { describe, expect, test } from 'vitest'
import { nextStep, sharedProcesses } from '../kit/shared.ts'

describe('the shared processes of an agent', () => {
  test('are filled before another one is started, and are those of one folder', () => {
    const { open, backend, it } = sharedProcesses(2, 9)
    for (const cwd of ['/a', '/a', '/b', '/a', '/b']) open(cwd)
    expect([it.size, backend.calls.map(({ call }) => call)]).toEqual([
      3,
      ['/a', '/b', '/a'].map((cwd) => ({ kind: 'process', stdin: 'open', cwd })),
    ])
  })

  test('are at most as many as there may be: the next session waits until one has exited', () => {
    const { open, backend, it } = sharedProcesses(1, 1)
    const one = open()
    one.handle.write('ask\n')
    const two = open()
    two.handle.write('early\n')
    expect([it.size, it.crowded, two.started]).toEqual([1, true, 0])
    backend.call.end()
    expect([it.size, it.crowded, two.started, backend.call.written]).toEqual([1, false, 1, ['1 early\n']])
  })

  test('are left by sessions for which the agent does not work, when others wait', () => {
    const { open, backend } = sharedProcesses(2, 1)
    const [one, two] = [open('/a'), open('/a')]
    one.handle.write('ask\n')
    const other = open('/b')
    expect([one.end, two.end, other.started]).toEqual([undefined, undefined, 0])
    backend.call.say('1 done\n')
    expect([one.end, two.end, one.read]).toEqual([{ why: 'closed' }, { why: 'closed' }, 'done\n'])
    expect([other.started, backend.calls[0]!.stops]).toEqual([1, ['closed']])
  })

  test('are waited for by nobody who has left', async () => {
    const { open, backend, it } = sharedProcesses(1, 1)
    const one = open()
    one.handle.write('ask\n')
    const two = open()
    two.handle.stop('cancelled', 50)
    await nextStep()
    one.handle.stop('closed', 50)
    expect([two.end, it.size, it.crowded, backend.calls.length]).toEqual([{ why: 'cancelled' }, 0, false, 1])
  })

  test('are those of the backend, which ends them', async () => {
    const { open, it } = sharedProcesses(2, 1)
    const one = open()
    expect(it.file).toBeUndefined()
    await it.close(50)
    expect(one.end).toEqual({ why: 'closed' })
  })
})
