import { describe, expect, test } from 'vitest'
import { spanHooks } from '../../observability/spans.ts'
import type { RequestInfo, TurnScope } from '../../src/contract/index.ts'
import { type ErrorCode, fault } from '../../src/model/index.ts'
import { ownTracer } from './own-tracer.ts'
import { CLIENT, COMPLETED, GONE, HTTP, STDIO, TRACE, TURN, viewOf, WEAK } from './traced.ts'

/** Hooks on a tracer of this test alone, with its ended spans. */
function hooked(content = false) {
  const { tracer, ended, spans } = ownTracer()
  const hooks = spanHooks(tracer, { content })
  const names = (): string[] => ended().map(({ name }) => name)
  const named = (name: string) => ended().filter((span) => span.name === name)
  return { hooks, ended, spans, names, named }
}

describe('the span of a request', () => {
  test.each<[RequestInfo, string, object]>([
    [HTTP, 'POST /v1/zene', { 'http.request.method': 'POST', 'http.route': '/v1/zene', 'turnpike.front': 'zene' }],
    [
      { ...HTTP, method: 'BREW' },
      'HTTP /v1/zene',
      {
        'http.request.method': '_OTHER',
        'http.request.method_original': 'BREW',
        'http.route': '/v1/zene',
        'turnpike.front': 'zene',
      },
    ],
    [STDIO, 'agentproc@0.4 agentproc', { 'turnpike.front': 'agentproc@0.4', 'network.transport': 'pipe' }],
    [{ ...STDIO, transport: 'socket', path: '' }, 'agentproc@0.4', { 'turnpike.front': 'agentproc@0.4' }],
  ])('%j is named %s', (info, name, attributes) => {
    const { hooks, ended } = hooked()
    hooks.request(info).end({})
    expect(ended()).toEqual([{ name, attributes, events: [], links: [], failed: false }])
  })

  type Ended = { status?: number; exitCode?: number }
  test.each<[RequestInfo, Ended, ErrorCode | undefined, error: string | undefined, failed: boolean]>([
    [HTTP, { status: 200 }, undefined, undefined, false],
    [HTTP, { status: 404 }, undefined, undefined, false],
    [HTTP, { status: 499 }, 'cancelled', 'cancelled', false],
    [HTTP, { status: 500 }, undefined, '500', true],
    [HTTP, { status: 503 }, 'overloaded', 'overloaded', true],
    // By the HTTP conventions the client's mistake is no failure of the server's span.
    [HTTP, { status: 400 }, 'invalid-request', 'invalid-request', false],
    [HTTP, { status: 200 }, 'timeout', 'timeout', true],
    [HTTP, { status: 200, exitCode: 3 }, undefined, undefined, false],
    [STDIO, { exitCode: 0 }, undefined, undefined, false],
    [STDIO, { exitCode: 3 }, undefined, '3', true],
    [STDIO, { exitCode: 3, status: 500 }, undefined, '3', true],
    [STDIO, { exitCode: 1 }, 'cancelled', 'cancelled', false],
    [STDIO, { exitCode: 2 }, 'invalid-request', 'invalid-request', true],
  ])('%j that ends with %j and the fault %s has the error %s', (info, result, code, error, failed) => {
    const { hooks, ended } = hooked()
    const request = hooks.request(info)
    if (code !== undefined) request.fault(fault(code, 'x'))
    request.end(result)
    const { attributes, failed: is } = ended().at(-1)!
    expect([attributes['error.type'], is]).toEqual([error, failed])
    expect(attributes['http.response.status_code']).toBe(info === HTTP ? result.status : undefined)
    expect(attributes['process.exit.code']).toBe(info === HTTP ? undefined : result.exitCode)
  })

  test('has its reading and its routing below it, for each request for a turn on its wire', () => {
    const { hooks, spans, names, named } = hooked()
    const request = hooks.request(HTTP)
    request.read!()
    request.read!()
    request.turn({ ...TURN, route: 'channel=qq_*' }).end(COMPLETED)
    request.fault(fault('overloaded', 'x'))
    request.end({ status: 503 })
    expect(names().filter((name) => name === 'decode zene' || name === 'route')).toEqual([
      'decode zene',
      'decode zene',
      'route',
      'route',
    ])
    const routes = named('route').map(({ attributes, failed }) => [attributes, failed])
    expect(routes).toEqual([
      [{ 'gen_ai.agent.name': 'helper', 'turnpike.route': 'channel=qq_*' }, false],
      [{ 'error.type': 'overloaded' }, true],
    ])
    const server = spans().find(({ name }) => name === 'POST /v1/zene')!
    for (const span of spans().filter((one) => one !== server && one.name !== 'queue' && one.name !== 'zot'))
      expect(span.spanContext().traceId).toBe(server.spanContext().traceId)
  })

  test('ends what is still routed with it', () => {
    const { hooks, names } = hooked()
    const request = hooks.request(HTTP)
    request.read!()
    request.read!()
    request.end({ status: 200 })
    expect(names()).toEqual(['decode zene', 'decode zene', 'route', 'route', 'POST /v1/zene'])
  })

  test('that shares a turn says how, and is linked to that turn', () => {
    const { hooks, named } = hooked()
    const [first, second, third] = [hooks.request(HTTP), hooks.request(HTTP), hooks.request(HTTP)]
    const turn = first.turn(TURN)
    second.read!()
    second.shares!('joined', turn.carrier)
    second.end({ status: 200 })
    third.shares!('replayed', undefined)
    third.end({ status: 200 })
    const spanId = turn.carrier.traceparent!.split('-')[2]
    expect(named('POST /v1/zene').map(({ links }) => links)).toEqual([[spanId], []])
    expect(named('route').map(({ attributes }) => attributes)).toEqual([{ 'turnpike.share': 'joined' }])
  })
})

describe('the span of a turn', () => {
  /** A turn of a request. */
  function turned(content = false, more: object = {}): ReturnType<typeof hooked> & { turn: TurnScope } {
    const it = hooked(content)
    return { ...it, turn: it.hooks.request(HTTP).turn({ ...TURN, ...more }) }
  }

  test('has its wait, and the writing of its answer', () => {
    const { turn, names, named } = turned()
    turn.queued(5)
    turn.queued(5)
    turn.firstEvent({ type: 'turn-started', turn: 't1' })
    turn.firstEvent({ type: 'turn-started', turn: 't1' })
    turn.end(COMPLETED)
    expect(names()).toEqual(['queue', 'encode zene', 'invoke_agent helper'])
    expect(named('encode zene')[0]!.attributes).toEqual({ 'turnpike.front': 'zene', 'turnpike.events': 9 })
  })

  test('that never ran ends its wait with itself', () => {
    const { turn, names } = turned()
    turn.end(viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'cancelled' } }))
    expect(names()).toEqual(['queue', 'encode zene', 'invoke_agent helper'])
  })

  test('that moves waits again, for the other agent', () => {
    const { turn, names, named } = turned()
    turn.queued(5)
    turn.moved({ agent: 'other', back: 'acp' })
    turn.end(COMPLETED)
    expect(names()).toEqual(['queue', 'queue', 'encode zene', 'invoke_agent helper'])
    const [span] = named('invoke_agent helper')
    expect(span!.attributes).toMatchObject({ 'gen_ai.agent.name': 'other', 'turnpike.back': 'acp' })
    expect(span!.events).toEqual(['turnpike.fallback', 'turnpike.end'])
  })

  test('has an event for each note, and for each kind and item that is lost', () => {
    const { turn, named, spans } = turned()
    turn.note('asked', 'approval')
    turn.note('retry')
    for (const loss of [WEAK, GONE, { ...WEAK, field: 'other' }, { ...GONE, kind: 'weakened' as const }])
      turn.loss(loss)
    turn.end(COMPLETED)
    expect(named('invoke_agent helper')[0]!.events).toEqual([
      'turnpike.asked',
      'turnpike.retry',
      'turnpike.loss',
      'turnpike.loss',
      'turnpike.loss',
      'turnpike.end',
    ])
    const events = spans().find(({ name }) => name === 'invoke_agent helper')!.events
    expect(events.slice(0, 2).map(({ attributes }) => attributes)).toEqual([{ 'turnpike.about': 'approval' }, {}])
  })

  test.each([
    [viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('timeout', 'x') } }), 'timeout'],
    [viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'failed' } }), '_OTHER'],
    [viewOf({}), '_OTHER'],
    [
      viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'cancelled', fault: fault('cancelled', 'x') } }),
      undefined,
    ],
    [COMPLETED, undefined],
  ])('has the error of its end', (view, error) => {
    const { turn, named } = turned()
    turn.end(view)
    const [{ attributes, failed }] = named('invoke_agent helper') as [ReturnType<typeof named>[0]]
    expect([attributes['error.type'], failed]).toEqual([error, error !== undefined])
  })

  test('has the model that was asked for, where one was', () => {
    for (const model of ['m-1', undefined]) {
      const { turn, named } = turned(false, model === undefined ? {} : { model })
      turn.end(COMPLETED)
      expect(named('invoke_agent helper')[0]!.attributes['gen_ai.request.model']).toBe(model)
    }
  })

  test.each([
    [true, true],
    [true, false],
    [false, true],
  ])('has its content where that is wanted (%s) and may leave (%s)', (wanted, may) => {
    const content = { input: [{ type: 'text', text: 'private' }], systemPrompt: 'be kind' }
    const { turn, ended } = turned(wanted, may ? { content } : {})
    turn.end(COMPLETED)
    expect(JSON.stringify(ended()).includes('private')).toBe(wanted && may)
    expect(JSON.stringify(ended()).includes('be kind')).toBe(wanted && may)
  })

  test('of a client’s own trace is below that, and linked to its wire', () => {
    const { hooks, spans, named } = hooked()
    const request = hooks.request(HTTP)
    const traceparent = `00-${TRACE}-${CLIENT}-01`
    const turn = request.turn({ ...TURN, carrier: { traceparent, baggage: 'a=b' } })
    turn.end(COMPLETED)
    request.end({ status: 200 })
    expect(turn.carrier).toMatchObject({ traceparent: expect.stringContaining(TRACE), baggage: 'a=b' })
    const wire = spans()
      .find(({ name }) => name === 'POST /v1/zene')!
      .spanContext().spanId
    expect(named('invoke_agent helper')[0]!.links).toEqual([wire])
  })
})

describe('the processes of turns', () => {
  const process = { kind: 'process', command: '/opt/zot' } as const

  test('that outlive a turn have a span in the next one, linked to the first', () => {
    const { hooks, named, spans } = hooked()
    const first = hooks.request(HTTP).turn(TURN)
    const call = first.call(process)
    call.started({ pid: 7 })
    call.ready()
    first.end(COMPLETED)
    const second = hooks.request(HTTP).turn({ ...TURN, turn: 't2' })
    second.linked('kept', { scope: call, pid: 7 })
    second.end(COMPLETED)
    const [one, two] = spans().filter(({ name }) => name === 'zot')
    expect(named('zot').map(({ links }) => links)).toEqual([[], [one!.spanContext().spanId]])
    expect(two!.spanContext().traceId).not.toBe(one!.spanContext().traceId)
    expect(named('invoke_agent helper').map(({ attributes }) => attributes['turnpike.link'])).toEqual([
      undefined,
      'kept',
    ])
  })

  test('of others are not known', () => {
    const { hooks, names } = hooked()
    const turn = hooks.request(HTTP).turn(TURN)
    turn.linked('warm', { scope: { carrier: {}, started() {}, head() {}, ready() {}, end() {} } })
    turn.linked('new')
    turn.end(COMPLETED)
    expect(names()).not.toContain('zot')
  })

  test('that begin their session again say how often', () => {
    const { hooks, named } = hooked()
    const turn = hooks.request(HTTP).turn(TURN)
    const call = turn.call(process)
    turn.note('session-reset')
    turn.note('session-reset')
    call.end({ why: 'closed', exitCode: 0 })
    turn.end(COMPLETED)
    expect(named('zot')[0]!.attributes['turnpike.process.restarts']).toBe(2)
  })

  test('that start ahead of a turn have a trace of their own, and calls over HTTP too', () => {
    const { hooks, ended } = hooked()
    const ahead = hooks.ahead!('helper')
    ahead.call(process).ready()
    const call = ahead.call({ kind: 'http', method: 'POST', url: 'https://u:p@h:1/x?q#f' })
    call.head({ status: 503, headers: {} })
    call.end({ why: 'closed' })
    expect(ended().map(({ name, attributes, failed }) => [name, attributes, failed])).toEqual([
      ['zot', { 'process.executable.name': 'zot' }, false],
      [
        'POST',
        {
          'http.request.method': 'POST',
          'url.full': 'https://h:1/x',
          'server.address': 'h',
          'server.port': 1,
          'http.response.status_code': 503,
          'error.type': '503',
        },
        true,
      ],
    ])
  })
})

describe('a request whose trace is not recorded', () => {
  const traceparent = `00-${TRACE}-${CLIENT}-00`

  test('has no spans, and passes its context on', () => {
    const { hooks, ended } = hooked()
    const request = hooks.request({ ...HTTP, carrier: { traceparent, baggage: 'a=b' } })
    const turn = request.turn(TURN)
    turn.queued(5)
    turn.firstEvent({ type: 'turn-started', turn: 't1' })
    turn.call({ kind: 'http', method: 'GET', url: 'http://h' }).end({ why: 'closed' })
    turn.end(COMPLETED)
    request.fault(fault('timeout', 'x'))
    request.end({ status: 500 })
    expect(ended()).toEqual([])
    for (const { carrier } of [request, turn])
      expect(carrier).toMatchObject({
        traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-.*-00$`)),
        baggage: 'a=b',
      })
  })

  test('may have a turn with a trace of its own, which is', () => {
    const { hooks, ended } = hooked()
    const request = hooks.request({ ...HTTP, carrier: { traceparent } })
    const own = `00-${'1'.repeat(32)}-${CLIENT}-01`
    request.turn({ ...TURN, carrier: { traceparent: own } }).end(COMPLETED)
    expect(ended().map(({ name, links }) => [name, links])).toContainEqual(['invoke_agent helper', []])
  })
})
