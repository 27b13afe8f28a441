import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Call, CallEnd } from '../../src/contract/index.ts'
import { type CallListener, LINGER_MS, type LiveCall } from '../../src/engine/agent/live-call.ts'
import { LiveCalls } from '../../src/engine/agent/live-calls.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import { LIMITS, plainAgent } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const PROCESS: Call = { kind: 'process', stdin: 'open' }
const POST: Call = { kind: 'http', method: 'POST', body: '{}', answer: 'ndjson' }

/** The calls of a link, and what they say. */
function calling(line = LIMITS.line) {
  const backend = new ScriptedBackend()
  const said: unknown[][] = []
  const agent = plainAgent('', { backend, limits: { ...LIMITS, line } })
  const listener: CallListener = {
    head: ({ status }, { streams }) => void said.push(['head', status, streams]),
    readBegins() {},
    readEnds() {},
    texts() {},
    frame: (frame, { streams }) => void said.push(['frame', frame, streams]),
    outputEnded: () => void said.push(['output ended']),
    failed: ({ why, exitCode }) => void said.push(['failed', why, exitCode]),
    ended: (end: CallEnd) => void said.push(['ended', end]),
    gone: (call: LiveCall) => {
      said.push(['gone'])
      calls.delete(call)
    },
  }
  const calls = new LiveCalls(agent, SILENT_SCOPE, listener)
  return { calls, backend, said }
}

describe('a call', () => {
  test('gives its output as frames, the last one also without its line end, then its end', () => {
    const { calls, backend, said } = calling()
    calls.open(PROCESS)
    backend.call.say('one\ntw')
    backend.call.say('o\nthree')
    backend.call.end()
    backend.call.say('late\n')
    expect(said).toEqual([
      ['frame', 'one', false],
      ['frame', 'two', false],
      ['frame', 'three', false],
      ['ended', { why: 'closed', exitCode: 0 }],
      ['gone'],
    ])
    expect([calls.busy, calls.newest]).toEqual([false, undefined])
  })

  test('with a name has it in its frames and its end', () => {
    const { calls, backend, said } = calling()
    calls.open({ ...PROCESS, call: 'a' })
    backend.call.say('one\n')
    backend.call.end()
    expect(said).toEqual([
      ['frame', { data: 'one', call: 'a' }, false],
      ['ended', { why: 'closed', exitCode: 0, call: 'a' }],
      ['gone'],
    ])
  })

  test.each([
    ['text/event-stream; charset=utf-8', 'data: 1\n\n', ['frame', { data: '1' }, true]],
    ['application/json', '1\n', ['frame', '1', false]],
  ])('over HTTP is read by the type of its answer, %s', (type, text, frame) => {
    const { calls, backend, said } = calling()
    calls.open(POST)
    backend.call.head(type)
    backend.call.say(text)
    expect(said).toEqual([['head', 200, frame[2]], frame])
  })

  test('gets frames and the end of its input, the newest one when no name is given', async () => {
    const { calls, backend } = calling()
    calls.open({ ...PROCESS, call: 'a' })
    calls.open({ kind: 'process', stdin: 'end', call: 'b' })
    calls.send('to b')
    calls.send({ data: 'to a', call: 'a' })
    calls.send({ data: 'to none', call: 'c' })
    const [a, b] = backend.calls
    expect([a!.written, b!.written, b!.inputEnded]).toEqual([['to a\n'], ['to b\n'], false])
    await Promise.resolve()
    calls.end('a')
    expect([a!.inputEnded, b!.inputEnded]).toEqual([true, true])
  })

  test.each([
    ['exits with an error', { why: 'closed', exitCode: 3 }, [['failed', 'closed', 3]]],
    ['never started', { why: 'failed' }, [['failed', 'failed', undefined]]],
    ['exits well', { why: 'closed', exitCode: 0 }, []],
  ] as const)('that %s is logged as it should be', (_what, end, logged) => {
    const { calls, backend, said } = calling()
    calls.open(PROCESS)
    backend.call.end(end)
    expect(said.filter(([what]) => what === 'failed')).toEqual(logged)
  })

  test('that was stopped is no failure, however it ends', async () => {
    const { calls, backend, said } = calling()
    calls.open(PROCESS)
    backend.call.stubborn = true
    calls.stop('cancelled', 50)
    const quiet = calls.quiet()
    backend.call.end({ why: 'closed', exitCode: 137 })
    await quiet
    expect([backend.call.stops, said[0]]).toEqual([['cancelled'], ['ended', { why: 'closed', exitCode: 137 }]])
  })

  test('whose frames have lost their boundary is stopped, and read no further', () => {
    const { calls, backend, said } = calling(8)
    calls.open(PROCESS)
    backend.call.stubborn = true
    backend.call.say('0123456789\n1\n')
    expect(backend.call.stops).toEqual(['closed'])
    expect(said).toMatchObject([['ended', { why: 'failed', fault: { code: 'protocol-violation' } }]])
    backend.call.say('2\n')
    backend.call.closeOutput()
    backend.call.end()
    expect(said.slice(1)).toEqual([['gone']])
  })

  test('that is left is stopped when it does not end soon', () => {
    const { calls, backend } = calling()
    calls.open({ ...PROCESS, call: 'slow' })
    calls.open({ ...PROCESS, call: 'quick' })
    calls.leave('slow')
    calls.leaveAll()
    const [slow, quick] = backend.calls
    quick!.end()
    vi.advanceTimersByTime(LINGER_MS - 1)
    expect(slow!.stops).toEqual([])
    vi.advanceTimersByTime(1)
    expect([slow!.stops, quick!.stops, vi.getTimerCount()]).toEqual([['closed'], [], 0])
  })
})

describe('the calls of a link', () => {
  test('are read no further while they are paused, later ones too', () => {
    const { calls, backend } = calling()
    calls.open(PROCESS)
    calls.pause(true)
    calls.open(PROCESS)
    expect(backend.calls.map(({ paused }) => paused)).toEqual([true, true])
    calls.pause(false)
    calls.pause(false)
    expect(backend.calls.map(({ paused }) => paused)).toEqual([false, false])
  })

  test('are read to where they are when they are cut, and have one end each', () => {
    const { calls, backend, said } = calling()
    calls.open(PROCESS)
    backend.call.say('half')
    calls.cut({ why: 'timeout' })
    expect(said).toEqual([
      ['frame', 'half', false],
      ['ended', { why: 'timeout' }],
    ])
    expect(calls.busy).toBe(false)
    calls.cut({ why: 'timeout' })
    backend.call.end()
    expect(said.slice(2)).toEqual([['gone']])
  })

  test('say nothing more when they are silenced', () => {
    const { calls, backend, said } = calling()
    calls.open(PROCESS)
    calls.silence()
    backend.call.say('1\n')
    backend.call.closeOutput()
    backend.call.end()
    expect(said).toEqual([['gone']])
  })

  test('are quiet when the last one is gone, also when one takes the place of another', async () => {
    const { calls, backend } = calling()
    await calls.quiet()
    calls.open(PROCESS)
    calls.open(PROCESS)
    const [first, second] = backend.calls
    let quiet = false
    const done = calls.quiet().then(() => {
      quiet = true
    })
    first!.end()
    await Promise.resolve()
    expect([quiet, calls.newest?.process.pid]).toEqual([false, second!.pid])
    second!.end()
    await done
  })
})

test('files are those of the backend, if it has any', async () => {
  const backend = Object.assign(new ScriptedBackend(), { file: () => Promise.resolve({ text: 'x' }) })
  const listener = {
    head() {},
    readBegins() {},
    readEnds() {},
    frame() {},
    texts() {},
    outputEnded() {},
    failed() {},
    ended() {},
    gone() {},
  }
  const calls = new LiveCalls(plainAgent('', { backend, limits: LIMITS }), SILENT_SCOPE, listener)
  const result = await new Promise((done) => calls.file!({ kind: 'read', path: '/a', roots: [] }, done))
  expect([result, calling().calls.file]).toEqual([{ text: 'x' }, undefined])
})
