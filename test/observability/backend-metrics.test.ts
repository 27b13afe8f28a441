import { describe, expect, test } from 'vitest'
import { countedBackend } from '../../observability/backend-metrics.ts'
import { openMetrics } from '../../observability/index.ts'
import { INSTRUMENTS } from '../../observability/instruments.ts'
import { Metric } from '../../observability/meters.ts'
import {
  type Backend,
  type Call,
  type CallEnd,
  type CallHandle,
  type CallSink,
  silentHooks,
} from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'

test('a counted backend does all that its backend does', async () => {
  const asked: string[] = []
  // A member that is added to backends does not compile without a place here.
  const full: Required<Backend> = {
    open: () => ({ write: () => true, endInput() {}, pause() {}, resume() {}, stop() {} }),
    close: async (graceMs) => void asked.push(`close ${graceMs}`),
    file: async ({ path }) => ({ text: path }),
    isWithin: (path) => path === '/in',
  }
  const metrics = await openMetrics()
  const counted = metrics.hooks(silentHooks).backend!('it', full)
  expect(Object.keys(counted).toSorted()).toEqual(Object.keys(full).toSorted())
  expect(await counted.file!({ kind: 'read', path: '/a', roots: [] })).toEqual({ text: '/a' })
  expect(['/in', '/out'].map((path) => counted.isWithin!(path, []))).toEqual([true, false])
  await counted.close(5)
  expect(asked).toEqual(['close 5'])
  const { file: _, isWithin: __, ...plain } = full
  expect(Object.keys(metrics.hooks(silentHooks).backend!('it', plain))).toEqual(['open', 'close'])
  metrics.close()
})

describe('a counted call', () => {
  const METRICS = ['processes', 'starts', 'failures', 'io', 'pauses'] as const

  function counted() {
    const metrics = Object.fromEntries(METRICS.map((key) => [key, new Metric(INSTRUMENTS[key])])) as Record<
      (typeof METRICS)[number],
      Metric
    >
    const asked: unknown[] = []
    const told: unknown[] = []
    let inner: CallSink | undefined
    const handle: CallHandle = {
      pid: 7,
      write: (piece) => {
        asked.push(['write', piece])
        return false
      },
      endInput: () => void asked.push('endInput'),
      pause: () => void asked.push('pause'),
      resume: () => void asked.push('resume'),
      stop: (...how) => void asked.push(['stop', ...how]),
    }
    const backend = countedBackend(metrics, 'helper', {
      open: (call, sink, trace) => {
        asked.push(['open', call, trace])
        inner = sink
        return handle
      },
      close: async () => {},
    })
    const sink: CallSink = {
      started: (info) => void told.push(['started', info]),
      head: (head) => void told.push(['head', head]),
      data: (text) => void told.push(['data', text]),
      dataEnd: () => void told.push('dataEnd'),
      log: (text) => void told.push(['log', text]),
      end: (end) => void told.push(['end', end]),
    }
    const call = backend.open(CALL, sink, { traceparent: 'T' })
    /** The values of a metric by its labels. */
    const read = (key: (typeof METRICS)[number]): Record<string, number> =>
      Object.fromEntries(metrics[key].series.map(({ labels, value }) => [Object.values(labels).join(' '), value]))
    return { call, inner: inner!, asked, told, read, metrics }
  }
  const CALL: Call = { kind: 'process', stdin: 'open' }

  test('passes everything on, both ways', () => {
    const { call, inner, asked, told } = counted()
    inner.started!({ pid: 7 })
    inner.head!({ status: 200, headers: {} })
    inner.data('out')
    inner.dataEnd!()
    inner.log!('err')
    inner.end({ why: 'closed', exitCode: 0 })
    expect(told).toEqual([
      ['started', { pid: 7 }],
      ['head', { status: 200, headers: {} }],
      ['data', 'out'],
      'dataEnd',
      ['log', 'err'],
      ['end', { why: 'closed', exitCode: 0 }],
    ])
    expect([call.pid, call.write('in')]).toEqual([7, false])
    call.endInput()
    call.pause()
    call.resume()
    call.stop('cancelled', 5)
    expect(asked).toEqual([
      ['open', CALL, { traceparent: 'T' }],
      ['write', 'in'],
      'endInput',
      'pause',
      'resume',
      ['stop', 'cancelled', 5],
    ])
  })

  test('needs a sink for data and the end alone', () => {
    const { metrics } = counted()
    const backend = countedBackend(metrics, 'helper', {
      open: (_call, sink) => {
        sink.started?.({})
        sink.head?.({ status: 200, headers: {} })
        sink.dataEnd?.()
        sink.log?.('x')
        return { write: () => true, endInput() {}, pause() {}, resume() {}, stop() {} }
      },
      close: async () => {},
    })
    expect(() => backend.open(CALL, { data() {}, end() {} }, {})).not.toThrow()
  })

  test('counts a process while it runs, and its start', () => {
    const { inner, read } = counted()
    inner.started!({ pid: 7 })
    expect([read('processes'), read('starts')]).toEqual([{ helper: 1 }, { helper: 1 }])
    inner.end({ why: 'closed', exitCode: 0 })
    expect([read('processes'), read('starts'), read('failures')]).toEqual([{ helper: 0 }, { helper: 1 }, {}])
  })

  test('counts no process for a call without one', () => {
    const { inner, read } = counted()
    inner.started!({})
    inner.end({ why: 'closed' })
    expect([read('processes'), read('starts')]).toEqual([{ helper: 0 }, { helper: 0 }])
  })

  test('counts bytes, not characters, in both directions', () => {
    const { call, inner, read } = counted()
    inner.data('a€')
    inner.data('😀')
    call.write('é')
    call.write(new Uint8Array(5))
    expect(read('io')).toEqual({ 'helper receive': 8, 'helper transmit': 7 })
  })

  test('counts pauses, and not what follows them', () => {
    const { call, read } = counted()
    call.pause()
    call.resume()
    call.pause()
    expect(read('pauses')).toEqual({ helper: 2 })
  })

  test.each<[CallEnd, string | undefined]>([
    [{ why: 'closed' }, undefined],
    [{ why: 'closed', exitCode: 0 }, undefined],
    [{ why: 'closed', exitCode: 2 }, '2'],
    [{ why: 'closed', signal: 'SIGSEGV' }, 'SIGSEGV'],
    [{ why: 'failed', fault: fault('agent-unavailable', 'x') }, 'agent-unavailable'],
    [{ why: 'failed' }, '_OTHER'],
  ])('that ends with %j by itself failed with %s, and stopped it did not', (end, failure) => {
    const alone = counted()
    alone.inner.end(end)
    expect(alone.read('failures')).toEqual(failure === undefined ? {} : { [`helper ${failure}`]: 1 })
    const stopped = counted()
    stopped.call.stop('cancelled', 0)
    stopped.inner.end(end)
    expect(stopped.read('failures')).toEqual({})
  })
})
