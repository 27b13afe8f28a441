import { describe, expect, test } from 'vitest'
import { endOnce, errorOf, finish, ProcessSpans, TurnProcesses } from '../../observability/processes.ts'
import type { CallEnd } from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'
import { ownTracer, placeOf } from './own-tracer.ts'

const CLOSED: CallEnd = { why: 'closed', exitCode: 0 }

function process(more: Parameters<typeof placeOf>[0] = {}) {
  const { tracer, ended, spans } = ownTracer()
  return { tracer, ended, spans, it: new ProcessSpans(tracer, '/opt/bin/zot', placeOf(more)) }
}

describe('the span of a process', () => {
  test('has the name of its program, its number, and the code that it exits with', () => {
    const { it, ended } = process()
    it.started({ pid: 7 })
    it.head()
    it.end({ why: 'closed', exitCode: 3 })
    expect(ended()).toEqual([
      {
        name: 'zot',
        attributes: {
          'process.executable.name': 'zot',
          'process.pid': 7,
          'process.exit.code': 3,
          'error.type': '3',
        },
        events: [],
        links: [],
        failed: true,
      },
    ])
  })

  test('has no number when the process could not be started', () => {
    const { it, ended } = process()
    it.started({})
    it.end({ why: 'failed', fault: fault('agent-unavailable', 'no such file') })
    expect(ended()[0]!.attributes).toEqual({ 'process.executable.name': 'zot', 'error.type': 'agent-unavailable' })
  })

  test('gives the agent its own context, with the baggage that came in', () => {
    const { it, spans } = process({ baggage: 'tenant=acme' })
    it.end(CLOSED)
    const { traceId, spanId } = spans()[0]!.spanContext()
    expect(it.carrier).toEqual({ traceparent: `00-${traceId}-${spanId}-01`, baggage: 'tenant=acme' })
    expect(process().it.carrier).not.toHaveProperty('baggage')
  })

  test.each<[string, CallEnd, boolean, string | undefined]>([
    ['exits well', CLOSED, false, undefined],
    ['exits with a code', { why: 'closed', exitCode: 1 }, false, '1'],
    ['exits with a code after its turn', { why: 'closed', exitCode: 1 }, true, '1'],
    ['gets a signal', { why: 'closed', signal: 'SIGKILL' }, false, 'SIGKILL'],
    ['gets a signal after its turn', { why: 'closed', signal: 'SIGTERM' }, true, undefined],
    ['exits on SIGTERM after its turn', { why: 'closed', exitCode: 143 }, true, undefined],
    ['exits on SIGTERM in its turn', { why: 'closed', exitCode: 143 }, false, '143'],
    ['is cancelled', { why: 'cancelled', signal: 'SIGTERM' }, false, undefined],
    ['is out of time', { why: 'timeout', signal: 'SIGKILL' }, true, 'timeout'],
    ['fails', { why: 'failed', fault: fault('agent-crashed', 'x') }, false, 'agent-crashed'],
    ['fails without a reason', { why: 'failed' }, false, '_OTHER'],
  ])('of one that %s', (_, end, turnEnded, error) => {
    const { it, ended } = process({ turnEnded: () => turnEnded })
    it.end(end)
    const [{ attributes, failed }] = ended() as [ReturnType<typeof ended>[0]]
    expect([attributes['error.type'], failed]).toEqual([error, error !== undefined])
    expect(attributes['turnpike.process.signal']).toBe(end.signal)
  })

  test('ends with the process when that serves one turn', () => {
    const { it, ended } = process()
    it.turnEnded()
    expect(ended()).toEqual([])
    it.end(CLOSED)
    expect(ended()).toHaveLength(1)
  })

  test('ends with its turn when the process outlives that, and the end of the process says nothing more', () => {
    const { it, ended } = process()
    it.ready()
    it.turnEnded()
    it.end({ why: 'closed', exitCode: 9 })
    expect(ended()).toEqual([
      {
        name: 'zot',
        attributes: { 'process.executable.name': 'zot' },
        events: ['turnpike.ready'],
        links: [],
        failed: false,
      },
    ])
  })

  test('of one that starts ahead of a turn ends when it is ready, without an event', () => {
    const { it, ended } = process({ ahead: true })
    it.ready()
    expect(ended().map(({ events }) => events)).toEqual([[]])
  })
})

describe('a process that serves several turns', () => {
  test('has a span for each, linked to its first one, with its number', () => {
    const { it, ended, spans } = process()
    it.started({ pid: 7 })
    it.ready()
    it.turnEnded()
    it.serve(placeOf({ turnEnded: () => true }))
    it.turnEnded()
    it.serve(placeOf({ turnEnded: () => true }))
    it.end({ why: 'closed', exitCode: 143 })
    const first = spans()[0]!.spanContext().spanId
    expect(ended().map(({ links, attributes, failed }) => [links, attributes['process.pid'], failed])).toEqual([
      [[], 7, false],
      [[first], 7, false],
      // The place is that of its last turn.
      [[first], 7, false],
    ])
  })

  test('ends a span that is still open when the next turn begins', () => {
    const { it, ended } = process()
    it.serve(placeOf())
    expect(ended()).toHaveLength(1)
    expect(ended()[0]!.attributes).not.toHaveProperty('process.pid')
  })
})

describe('the processes of a turn', () => {
  const started = () => {
    const { tracer, ended } = ownTracer()
    return { ended, next: (name: string) => new ProcessSpans(tracer, name, placeOf()) }
  }
  const restarts = (ended: ReturnType<typeof started>['ended']) =>
    ended().map(({ name, attributes }) => [name, attributes['turnpike.process.restarts']])

  test('that it starts count how often they replace one before', () => {
    const { ended, next } = started()
    const all = new TurnProcesses()
    for (const name of ['a', 'b', 'c']) all.started(next(name)).end(CLOSED)
    expect(restarts(ended)).toEqual([
      ['a', undefined],
      ['b', 1],
      ['c', 2],
    ])
  })

  test('that ran before count as the one that is replaced', () => {
    const { ended, next } = started()
    const all = new TurnProcesses()
    const kept = next('kept')
    all.add(kept)
    kept.end(CLOSED)
    all.started(next('new')).end(CLOSED)
    expect(restarts(ended)).toEqual([
      ['kept', undefined],
      ['new', 1],
    ])
  })

  test('that begin their session again count that too', () => {
    const { ended, next } = started()
    const all = new TurnProcesses()
    all.reset()
    const one = all.started(next('a'))
    all.reset()
    all.reset()
    one.end(CLOSED)
    expect(restarts(ended)).toEqual([['a', 2]])
  })

  test('that outlive the turn end their spans with it, and the others do not', () => {
    const { ended, next } = started()
    const all = new TurnProcesses()
    const brief = all.started(next('brief'))
    all.started(next('lives')).ready()
    expect(all.over).toBe(false)
    all.turnEnded()
    expect([all.over, ended().map(({ name }) => name)]).toEqual([true, ['lives']])
    brief.end(CLOSED)
    expect(ended()).toHaveLength(2)
  })
})

describe('the end of a span', () => {
  test.each<[CallEnd, string | undefined]>([
    [{ why: 'timeout' }, 'timeout'],
    [{ why: 'failed', fault: fault('unauthenticated', 'x') }, 'unauthenticated'],
    [{ why: 'failed' }, '_OTHER'],
    [{ why: 'cancelled' }, undefined],
    [{ why: 'closed', exitCode: 1 }, undefined],
  ])('of a call that ends with %j has the error %s', (end, error) => {
    expect(errorOf(end)).toBe(error)
  })

  test('has an error, or none', () => {
    const { tracer, ended } = ownTracer()
    finish(tracer.startSpan('a'), 'broken')
    finish(tracer.startSpan('b'), undefined)
    expect(ended().map(({ name, attributes, failed }) => [name, attributes, failed])).toEqual([
      ['a', { 'error.type': 'broken' }, true],
      ['b', {}, false],
    ])
  })

  test('comes once', () => {
    const { tracer, ended } = ownTracer()
    const span = tracer.startSpan('a')
    endOnce(span)
    endOnce(span)
    expect(ended()).toHaveLength(1)
  })
})
