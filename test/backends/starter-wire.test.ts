import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failedCall } from '../../src/backends/failed.ts'
import { resourceLimiter } from '../../src/backends/resources.ts'
import { messageReader } from '../../src/backends/starter-wire.ts'
import { isWithin } from '../../src/backends/within.ts'
import type { CallEnd } from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'

describe('messages of the starter', () => {
  const message = fc.oneof(fc.tuple(fc.constant('started'), fc.nat(), fc.nat()), fc.tuple(fc.constant('é😀\n"')))

  test('are read whole, wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat()), (messages, cuts) => {
        const text = messages.map((one) => `${JSON.stringify(one)}\n`).join('')
        const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((one, other) => one - other)
        const read: unknown[] = []
        const take = messageReader((one) => read.push(one))
        for (const [at, place] of places.entries()) take(text.slice(places[at - 1] ?? 0, place))
        expect(read).toEqual(messages)
      }),
    )
  })

  test('wait for their line end', () => {
    const read: unknown[] = []
    const take = messageReader((one) => read.push(one))
    take('["ready"]')
    expect(read).toEqual([])
    take('\n')
    expect(read).toEqual([['ready']])
  })

  test('that are no JSON are an error', () => {
    expect(() => messageReader(() => {})('ready\n')).toThrow(SyntaxError)
  })
})

test.each([
  ['/a', '/a', true],
  ['/a/b', '/a', true],
  ['/a/b', '/a/', true],
  ['/ab', '/a', false],
  ['/', '/a', false],
  ['/a', '/', true],
  ['/', '/', true],
  ['/a', '/a/b', false],
  ['/a', undefined, false],
])('%s is within %s: %s', (path, root, within) => {
  expect(isWithin(path, root)).toBe(within)
})

describe('limits of resources', () => {
  test.each([
    [{}, []],
    [{ memory: 1024 }, ['prlimit', '--core=0', '--data=1024', '--']],
    [{ cpu: 1500 }, ['prlimit', '--core=0', '--cpu=2', '--']],
    [{ cpu: 1 }, ['prlimit', '--core=0', '--cpu=1', '--']],
    [{ files: 0 }, ['prlimit', '--core=0', '--nofile=0', '--']],
    [
      { memory: 1, cpu: 2000, files: 3, processes: 4, fileSize: 5 },
      ['prlimit', '--core=0', '--data=1', '--cpu=2', '--nofile=3', '--nproc=4', '--fsize=5', '--'],
    ],
  ])('of %j are %j', (resources, prefix) => {
    expect(resourceLimiter(resources)).toEqual(prefix)
  })
})

describe('a call that never started', () => {
  const REASON = fault('agent-unavailable', 'Gone.')

  function call(named?: string) {
    const ends: CallEnd[] = []
    const handle = failedCall(REASON, { data() {}, end: (end) => void ends.push(end) }, named)
    return { ends, handle }
  }

  test('ends after its handle was returned, with its fault and its name', async () => {
    const one = call()
    const named = call('c1')
    expect(one.ends).toEqual([])
    await Promise.resolve()
    expect(one.ends).toEqual([{ why: 'failed', fault: REASON }])
    expect(named.ends).toEqual([{ call: 'c1', why: 'failed', fault: REASON }])
  })

  test('takes everything, and says why it was stopped', async () => {
    const { ends, handle } = call()
    expect(handle.write('x')).toBe(true)
    handle.endInput()
    handle.pause()
    handle.resume()
    handle.stop('cancelled', 5)
    await Promise.resolve()
    expect(ends).toEqual([{ why: 'cancelled' }])
  })
})
