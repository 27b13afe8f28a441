import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type AllMetrics, INSTRUMENTS, type MetricKey } from '../../observability/instruments.ts'
import { Metric } from '../../observability/meters.ts'
import { CountedRequest } from '../../observability/request-metrics.ts'
import { CountedTurn } from '../../observability/turn-metrics.ts'
import { type RequestScope, silentTurn, type TurnScope } from '../../src/contract/index.ts'
import { type Fault, fault, type TurnView } from '../../src/model/index.ts'
import { COMPLETED, GONE, HTTP, TURN, viewOf, WEAK } from './traced.ts'

const CARRIER = { traceparent: '00-a-b-01' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function allMetrics(): AllMetrics {
  const entries = Object.entries(INSTRUMENTS).map(([key, instrument]) => [key, new Metric(instrument)])
  return Object.fromEntries(entries) as AllMetrics
}

/** The values of a metric by its labels' values; of a histogram its sum and the number of its values. */
function values(all: AllMetrics, key: MetricKey): Record<string, number | [sum: number, count: number]> {
  const isHistogram = INSTRUMENTS[key].kind === 'histogram'
  return Object.fromEntries(
    all[key].series.map(({ labels, value, count }) => [
      Object.values(labels).join(' '),
      isHistogram ? [value, count] : value,
    ]),
  )
}

/** A scope that notes each call with its arguments. */
function noting<T extends object>(methods: readonly string[], more: object): { scope: T; calls: unknown[][] } {
  const calls: unknown[][] = []
  const noted = methods.map((name) => [name, (...args: unknown[]) => void calls.push([name, ...args])])
  return { scope: { ...Object.fromEntries(noted), ...more } as T, calls }
}

const TURN_METHODS = ['linked', 'queued', 'firstEvent', 'tool', 'loss', 'note', 'moved', 'end'] as const

function counted(more: object = {}) {
  const all = allMetrics()
  const { scope, calls } = noting<TurnScope>(TURN_METHODS, { carrier: CARRIER, ...more })
  return { all, calls, turn: new CountedTurn(all, 'zene', TURN, scope), read: (key: MetricKey) => values(all, key) }
}

describe('a counted turn', () => {
  test('has the trace context and the calls of the scope behind it', () => {
    const call = silentTurn(CARRIER).call({ kind: 'process', command: 'x' })
    const infos: unknown[] = []
    const { turn } = counted({
      call: (info: unknown) => {
        infos.push(info)
        return call
      },
    })
    expect(turn.carrier).toBe(CARRIER)
    expect(turn.call({ kind: 'http', method: 'GET', url: 'http://h' })).toBe(call)
    expect(infos).toEqual([{ kind: 'http', method: 'GET', url: 'http://h' }])
  })

  test('passes everything on, with every argument', () => {
    const { turn, calls } = counted()
    const process = { scope: silentTurn(CARRIER).call({ kind: 'process', command: 'x' }), pid: 7 }
    const event = { type: 'turn-started', turn: 't1' } as const
    const tool = { type: 'tool-end', turn: 't1', tool: 'x', status: 'ok', parts: [] } as const
    turn.linked('kept', process)
    turn.queued(12)
    turn.firstEvent(event)
    turn.tool(tool)
    turn.loss(WEAK)
    turn.note('asked', 'approval')
    turn.moved({ agent: 'other', back: 'acp' })
    turn.end(COMPLETED)
    expect(calls).toEqual([
      ['linked', 'kept', process],
      ['queued', 12],
      ['firstEvent', event],
      ['tool', tool],
      ['loss', WEAK],
      ['note', 'asked', 'approval'],
      ['moved', { agent: 'other', back: 'acp' }],
      ['end', COMPLETED],
    ])
  })

  test('needs no observer of tools', () => {
    const { turn } = counted({ tool: undefined })
    expect(turn.tool({ type: 'tool-end', turn: 't1', tool: 'x', status: 'ok', parts: [] })).toBeUndefined()
  })

  test('waits until it leaves the queue, and is active until its end', () => {
    const { turn, read } = counted()
    expect([read('active'), read('depth')]).toEqual([{ helper: 1 }, { helper: 1 }])
    turn.queued(250)
    expect([read('active'), read('depth'), read('wait')]).toEqual([{ helper: 1 }, { helper: 0 }, { helper: [0.25, 1] }])
    turn.end(COMPLETED)
    expect([read('active'), read('depth')]).toEqual([{ helper: 0 }, { helper: 0 }])
  })

  test('that never left the queue leaves it with its end, without a time of waiting', () => {
    const { turn, read } = counted()
    turn.end(COMPLETED)
    expect([read('active'), read('depth'), read('wait')]).toEqual([{ helper: 0 }, { helper: 0 }, {}])
  })

  test('counts the first wait only: a further attempt does not wait for its session', () => {
    const { turn, read } = counted()
    turn.queued(1000)
    turn.queued(4000)
    expect(read('wait')).toEqual({ helper: [1, 1] })
  })

  test('that moves is counted for the next agent from then on', () => {
    const { turn, read } = counted()
    turn.queued(1000)
    turn.moved({ agent: 'other', back: 'acp' })
    expect([read('active'), read('depth')]).toEqual([
      { helper: 0, other: 1 },
      { helper: 0, other: 1 },
    ])
    turn.queued(2000)
    turn.linked('new')
    turn.end(COMPLETED)
    expect(read('depth')).toEqual({ helper: 0, other: 0 })
    expect(read('wait')).toEqual({ helper: [1, 1] })
    expect(read('links')).toEqual({ 'other new': 1 })
    expect(read('notes')).toEqual({ fallback: 1 })
    expect(read('turns')).toEqual({ 'zene acp other completed': 1 })
    expect(read('events')).toEqual({ 'zene acp': 9 })
  })

  test('has its time to the first event counted from the moment it could run', () => {
    const { turn, read } = counted()
    vi.advanceTimersByTime(5000)
    turn.queued(5000)
    vi.advanceTimersByTime(1500)
    turn.firstEvent({ type: 'turn-started', turn: 't1' })
    vi.advanceTimersByTime(1500)
    turn.firstEvent({ type: 'turn-started', turn: 't1' })
    expect(read('firstChunk')).toEqual({ 'invoke_agent helper': [1.5, 1] })
  })

  test('has no first event when only its end comes', () => {
    const { turn, read } = counted()
    turn.firstEvent({ type: 'turn-end', turn: 't1', outcome: 'completed' })
    expect(read('firstChunk')).toEqual({})
  })

  test('has its whole time counted, the wait included', () => {
    const { turn, read } = counted()
    vi.advanceTimersByTime(5000)
    turn.queued(5000)
    vi.advanceTimersByTime(2500)
    turn.end(COMPLETED)
    expect(read('duration')).toEqual({ 'invoke_agent helper': [7.5, 1] })
  })

  test.each<[Partial<TurnView>, string]>([
    [{ end: { type: 'turn-end', turn: 't1', outcome: 'completed' } }, 'completed'],
    [{ end: { type: 'turn-end', turn: 't1', outcome: 'cancelled' } }, 'cancelled'],
    [{ end: { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('timeout', 'x') } }, 'failed timeout'],
    [{ end: { type: 'turn-end', turn: 't1', outcome: 'failed' } }, 'failed _OTHER'],
    // A cancel with a fault is no error.
    [{ end: { type: 'turn-end', turn: 't1', outcome: 'cancelled', fault: fault('cancelled', 'x') } }, 'cancelled'],
    [{}, 'failed _OTHER'],
  ])('that ends with %j is counted as %s', (end, labels) => {
    const { turn, read } = counted()
    turn.end(viewOf(end))
    expect(read('turns')).toEqual({ [`zene zot helper ${labels}`]: 1 })
    const errorType = labels.split(' ')[1]
    expect(Object.keys(read('duration'))).toEqual([['invoke_agent helper', errorType].filter(Boolean).join(' ')])
  })

  test.each([
    [false, 'invoke_agent helper'],
    [true, 'invoke_agent helper true'],
  ])('has its usage counted, as estimated: %s', (usageEstimated, labels) => {
    const { turn, read } = counted()
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5, costUsd: 0.5, total: 99 }
    turn.end(viewOf({ usage, usageEstimated }))
    const keys = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'costUsd'] as const
    for (const key of keys) expect(read(key)).toEqual({ [labels]: usage[key] })
  })

  test('counts nothing for a number that its agent does not tell, and zero for a zero', () => {
    const { turn, read } = counted()
    turn.end(viewOf({ usage: { input: 0 } }))
    expect([read('input'), read('output'), read('costUsd')]).toEqual([{ 'invoke_agent helper': 0 }, {}, {}])
  })

  test('has its losses counted by kind and item, as many as there are', () => {
    const { turn, read } = counted()
    turn.loss(WEAK)
    turn.loss(GONE)
    turn.loss(GONE)
    expect(read('losses')).toEqual({ 'weakened tool-end': 1, 'dropped plan': 4 })
  })

  test('has its questions and other notes counted apart', () => {
    const { turn, read } = counted()
    turn.note('asked', 'approval')
    turn.note('settled', 'timeout')
    turn.note('retry', 'ignored')
    turn.note('parked')
    expect([read('asks'), read('settled'), read('notes')]).toEqual([
      { approval: 1 },
      { timeout: 1 },
      { retry: 1, parked: 1 },
    ])
  })

  test('law: what is active and what waits is what a plain model says, and nothing is left at the end', () => {
    type Step = { do: 'queued' } | { do: 'moved'; to: string }
    const step = fc.oneof(
      fc.constant<Step>({ do: 'queued' }),
      fc.constantFrom('helper', 'b', 'c').map<Step>((to) => ({ do: 'moved', to })),
    )
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 6 }), { minLength: 1, maxLength: 4 }), (turns) => {
        const all = allMetrics()
        const model = new Map<string, { active: number; depth: number }>()
        const of = (agent: string) => {
          if (!model.has(agent)) model.set(agent, { active: 0, depth: 0 })
          return model.get(agent)!
        }
        const check = (): void => {
          for (const [agent, { active, depth }] of model) {
            expect([values(all, 'active')[agent], values(all, 'depth')[agent]]).toEqual([active, depth])
          }
        }
        const running = turns.map((steps) => {
          of('helper').active += 1
          of('helper').depth += 1
          return { steps, agent: 'helper', waits: true, turn: new CountedTurn(all, 'zene', TURN, silentTurn(CARRIER)) }
        })
        check()
        for (const one of running) {
          for (const what of one.steps) {
            if (one.waits) of(one.agent).depth -= 1
            one.waits = what.do === 'moved'
            if (what.do === 'queued') one.turn.queued(1)
            else {
              of(one.agent).active -= 1
              one.agent = what.to
              of(one.agent).active += 1
              of(one.agent).depth += 1
              one.turn.moved({ agent: what.to, back: 'zot' })
            }
            check()
          }
        }
        for (const { turn } of running) turn.end(COMPLETED)
        expect(Object.values(values(all, 'active')).every((count) => count === 0)).toBe(true)
        expect(Object.values(values(all, 'depth')).every((count) => count === 0)).toBe(true)
      }),
    )
  })
})

describe('a counted request', () => {
  const requested = (info = HTTP, more: object = {}) => {
    const all = allMetrics()
    const methods = ['read', 'shares', 'fault', 'end']
    const { scope, calls } = noting<RequestScope>(methods, {
      carrier: CARRIER,
      turn: () => silentTurn(CARRIER),
      ...more,
    })
    return { all, calls, request: new CountedRequest(all, info, scope), read: (key: MetricKey) => values(all, key) }
  }

  test('passes everything on, with every argument', () => {
    const { request, calls } = requested()
    const why: Fault = fault('timeout', 'x')
    request.read()
    request.shares('joined', CARRIER)
    request.fault(why)
    request.end({ status: 504 })
    expect(request.carrier).toBe(CARRIER)
    expect(calls).toEqual([['read'], ['shares', 'joined', CARRIER], ['fault', why], ['end', { status: 504 }]])
  })

  test('needs no observer of its reading and of what it shares', () => {
    const { request } = requested(HTTP, { read: undefined, shares: undefined })
    expect([request.read(), request.shares('joined', undefined)]).toEqual([undefined, undefined])
  })

  test('is counted with its end, by its front, its transport and its fault', () => {
    const { request, read } = requested()
    expect(read('requests')).toEqual({})
    request.end({ status: 200 })
    expect(read('requests')).toEqual({ 'zene http': 1 })
    const failed = requested()
    failed.request.fault(fault('overloaded', 'x'))
    failed.request.end({ status: 503 })
    expect(failed.read('requests')).toEqual({ 'zene http overloaded': 1 })
  })

  test('has the bytes of its texts counted, not the characters', () => {
    const { request, read } = requested()
    request.received('aé')
    request.received('😀')
    request.sent('€')
    expect(read('clientIo')).toEqual({ 'zene http receive': 7, 'zene http transmit': 3 })
  })

  test('has its turn counted under its front', () => {
    const infos: unknown[] = []
    const turn = (info: unknown) => {
      infos.push(info)
      return silentTurn(CARRIER)
    }
    const { request, read } = requested({ ...HTTP, front: 'acp' }, { turn })
    request.turn(TURN).end(COMPLETED)
    expect(infos).toEqual([TURN])
    expect(read('turns')).toEqual({ 'acp zot helper completed': 1 })
  })
})
