import { describe, expect, test } from 'vitest'
import { fault } from '../../src/model/index.ts'
import { byName, COMPLETED, HTTP, shape, TURN, traced, viewOf } from './traced.ts'

describe('the span of an HTTP call', () => {
  test('names the server and hides query, fragment and credentials', async () => {
    const spans = await traced((hooks) => {
      const request = hooks.request(HTTP)
      const turn = request.turn(TURN)
      const url = 'https://user:pass@agent.example/v1/run?token=private#private'
      const call = turn.call({ kind: 'http', method: 'POST', url })
      call.started({})
      call.head({ status: 200, headers: { 'x-private': 'private' } })
      call.end({ why: 'closed' })
      const local = turn.call({ kind: 'http', method: 'MADEUP', url: 'http://127.0.0.1:9000/x' })
      local.head({ status: 503, headers: {} })
      local.end({ why: 'closed' })
      const broken = turn.call({ kind: 'http', method: 'GET', url: 'not a url' })
      broken.end({ why: 'failed', fault: fault('agent-unavailable', 'private') })
      turn.end(COMPLETED)
      request.end({ status: 200 })
    })
    expect(shape(byName(spans, 'POST'))).toEqual({
      name: 'POST',
      kind: 'client',
      attributes: {
        'http.request.method': 'POST',
        'url.full': 'https://agent.example/v1/run',
        'server.address': 'agent.example',
        'server.port': 443,
        'http.response.status_code': 200,
      },
      events: [],
      status: 'unset',
    })
    expect(shape(byName(spans, 'HTTP'))).toEqual({
      name: 'HTTP',
      kind: 'client',
      attributes: {
        'http.request.method': '_OTHER',
        'http.request.method_original': 'MADEUP',
        'url.full': 'http://127.0.0.1:9000/x',
        'server.address': '127.0.0.1',
        'server.port': 9000,
        'http.response.status_code': 503,
        'error.type': '503',
      },
      events: [],
      status: 'error',
    })
    expect(shape(byName(spans, 'GET'))).toEqual({
      name: 'GET',
      kind: 'client',
      attributes: { 'http.request.method': 'GET', 'error.type': 'agent-unavailable' },
      events: [],
      status: 'error',
    })
  })
})

describe('the span of a process', () => {
  test.each([
    ['killed by a signal', { why: 'closed', signal: 'SIGSEGV' }, undefined, 'SIGSEGV', 'error'],
    ['out of time', { why: 'timeout', signal: 'SIGKILL' }, undefined, 'timeout', 'error'],
    [
      'never started',
      { why: 'failed', fault: fault('agent-unavailable', '') },
      undefined,
      'agent-unavailable',
      'error',
    ],
    ['failed without a reason', { why: 'failed' }, undefined, '_OTHER', 'error'],
    ['cancelled', { why: 'cancelled', exitCode: 143 }, 143, undefined, 'unset'],
  ] as const)('%s', async (_name, end, exitCode, errorType, status) => {
    const spans = await traced((hooks) =>
      hooks.request(HTTP).turn(TURN).call({ kind: 'process', command: 'a' }).end(end),
    )
    expect(spans).toHaveLength(1)
    expect(spans[0]?.attributes['process.exit.code']).toBe(exitCode)
    expect(spans[0]?.attributes['turnpike.process.signal']).toBe('signal' in end ? end.signal : undefined)
    expect(spans[0]?.attributes['error.type']).toBe(errorType)
    expect(spans[0]?.status).toBe(status)
  })

  test('that outlives the turn ends with the turn, and each later turn has one that links to it', async () => {
    const spans = await traced((hooks) => {
      const turn = hooks.request(HTTP).turn(TURN)
      const call = turn.call({ kind: 'process', command: '/usr/bin/qwen' })
      call.started({ pid: 8 })
      call.ready()
      turn.end(COMPLETED)
      const later = hooks.request(HTTP).turn({ ...TURN, turn: 't2' })
      later.linked('kept', { scope: call, pid: 8 })
      call.end({ why: 'closed', exitCode: 1 })
      later.end(viewOf({}))
    })
    const [first, second] = spans.filter(({ name }) => name === 'qwen')
    expect(shape(first)).toEqual({
      name: 'qwen',
      kind: 'client',
      attributes: { 'process.executable.name': 'qwen', 'process.pid': 8 },
      events: [{ name: 'turnpike.ready', attributes: {} }],
      status: 'unset',
    })
    expect(shape(second)).toEqual({
      name: 'qwen',
      kind: 'client',
      attributes: {
        'process.executable.name': 'qwen',
        'process.pid': 8,
        'process.exit.code': 1,
        'error.type': '1',
      },
      events: [],
      status: 'error',
    })
    expect(second?.links).toEqual([{ traceId: first!.traceId, spanId: first!.spanId, attributes: {} }])
    expect(second?.traceId).not.toBe(first?.traceId)
  })

  test('that was started ahead is a trace of its own until it is ready; its first turn links to it', async () => {
    const spans = await traced((hooks) => {
      const call = hooks.ahead!('helper').call({ kind: 'process', command: 'zot' })
      call.started({ pid: 9 })
      call.ready()
      const turn = hooks.request(HTTP).turn(TURN)
      turn.linked('warm', { scope: call })
      turn.end(COMPLETED)
      call.end({ why: 'closed', exitCode: 1 })
    })
    const [ahead, serving] = spans.filter(({ name }) => name === 'zot')
    expect(ahead?.parentSpanId).toBeUndefined()
    expect(serving?.links).toEqual([{ traceId: ahead!.traceId, spanId: ahead!.spanId, attributes: {} }])
    expect([ahead, serving].map((span) => span?.attributes)).toEqual([
      { 'process.executable.name': 'zot', 'process.pid': 9 },
      { 'process.executable.name': 'zot', 'process.pid': 9 },
    ])
  })

  test('says how often the turn, or its session, had to be given another one', async () => {
    const spans = await traced((hooks) => {
      const turn = hooks.request(HTTP).turn(TURN)
      turn.call({ kind: 'process', command: 'a' }).end({ why: 'closed', exitCode: 0 })
      turn.call({ kind: 'process', command: 'b' }).end({ why: 'closed', exitCode: 0 })
      const third = turn.call({ kind: 'process', command: 'c' })
      turn.note('session-reset')
      third.end({ why: 'closed', exitCode: 0 })
    })
    const restarts = ['a', 'b', 'c'].map((name) => byName(spans, name).attributes['turnpike.process.restarts'])
    expect(restarts).toEqual([undefined, 1, 3])
  })

  test.each([
    [{ why: 'closed', signal: 'SIGTERM' }, undefined],
    [{ why: 'closed', exitCode: 143 }, undefined],
    [{ why: 'closed', exitCode: 1 }, '1'],
  ] as const)('that ends after its turn with %j', async (end, errorType) => {
    const spans = await traced((hooks) => {
      const turn = hooks.request(HTTP).turn(TURN)
      const call = turn.call({ kind: 'process', command: 'a' })
      turn.end(COMPLETED)
      call.end(end)
    })
    expect(byName(spans, 'a').attributes['error.type']).toBe(errorType)
  })
})
