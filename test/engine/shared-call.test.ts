import { describe, expect, test } from 'vitest'
import type { CallEnd } from '../../src/contract/index.ts'
import { type CallHome, SharedCall } from '../../src/engine/agent/shared-call.ts'
import { nextStep } from '../kit/shared.ts'

function call() {
  const seen: { read: string[]; ends: CallEnd[]; outputEnds: number } = { read: [], ends: [], outputEnds: 0 }
  const told: unknown[][] = []
  const home: CallHome = {
    pid: 7,
    write: (...args) => told.push(['write', ...args]) > 0,
    flow: () => {},
    leave: (...args) => void told.push(['leave', ...args]),
  }
  const it = new SharedCall(
    { kind: 'process', stdin: 'open' },
    {
      data: (text) => void seen.read.push(text),
      dataEnd() {
        seen.outputEnds += 1
      },
      end: (end) => void seen.ends.push(end),
    },
    {},
  )
  return { it, seen, told, home }
}

describe('a part of a process', () => {
  test('keeps what is written until it has a process', () => {
    const { it, told, home } = call()
    expect([it.write('a'), it.pid]).toEqual([true, undefined])
    it.enter(home, 3)
    it.write('b')
    it.endInput()
    expect([told, it.pid]).toEqual([
      [
        ['write', 3, 'a'],
        ['write', 3, 'b'],
      ],
      7,
    ])
  })

  test('keeps output while nobody reads, and its end after it', () => {
    const { it, seen } = call()
    it.data('1')
    it.pause()
    for (const text of ['2', '3']) it.data(text)
    it.dataEnd()
    it.finish({ why: 'closed', exitCode: 0 })
    expect([seen, it.kept, it.over]).toEqual([{ read: ['1'], ends: [], outputEnds: 0 }, 2, false])
    it.resume()
    expect(seen).toEqual({ read: ['1', '2', '3'], ends: [{ why: 'closed', exitCode: 0 }], outputEnds: 1 })
    expect([it.kept, it.over]).toEqual([0, true])
  })

  test('goes on to keep what a reader leaves that stops in between', () => {
    const read: string[] = []
    const it = new SharedCall(
      { kind: 'process', stdin: 'open' },
      {
        data(text) {
          read.push(text)
          if (text === '1') it.pause()
        },
        end() {},
      },
      {},
    )
    it.pause()
    for (const text of ['1', '2']) it.data(text)
    it.resume()
    it.data('3')
    expect([read, it.kept]).toEqual([['1'], 2])
    it.resume()
    expect([read, it.kept]).toEqual([['1', '2', '3'], 0])
  })

  test('that is stopped reads nothing more, and has one end', async () => {
    const { it, seen, told, home } = call()
    it.enter(home, 1)
    it.pause()
    it.data('unread')
    it.stop('cancelled', 50)
    it.stop('closed', 50)
    it.pause()
    it.data('late')
    expect([told, it.kept, seen.ends]).toEqual([[['leave', 1, 'cancelled', 50]], 0, []])
    it.finish({ why: 'cancelled' })
    it.finish({ why: 'closed' })
    expect(seen).toEqual({ read: [], ends: [{ why: 'cancelled' }], outputEnds: 0 })
  })

  test('that is stopped before it has a process has its end in the next step', async () => {
    const { it, seen } = call()
    it.stop('timeout', 50)
    expect(seen.ends).toEqual([])
    await nextStep()
    expect([seen.ends, it.over]).toEqual([[{ why: 'timeout' }], true])
  })
})
