import { describe, expect, test } from 'vitest'
import { fault } from '../../src/model/index.ts'
import { byName, CLIENT, GONE, HTTP, STDIO, shape, TRACE, TRACEPARENT, TURN, traced, viewOf, WEAK } from './traced.ts'

describe('a turn that succeeds over HTTP', () => {
  test('is one tree from the client to the process, with these names, kinds and attributes', async () => {
    const handedOn: Record<string, string | undefined> = {}
    const spans = await traced((hooks) => {
      const carrier = { traceparent: TRACEPARENT, tracestate: 'rojo=1', baggage: 'tenant=acme' }
      const request = hooks.request({ ...HTTP, carrier })
      const turn = request.turn({ ...TURN, model: 'm-1' })
      turn.queued(12)
      const call = turn.call({ kind: 'process', command: '/opt/agents/bin/zot' })
      call.started({ pid: 4321 })
      turn.firstEvent({ type: 'turn-started', turn: 't1' })
      turn.loss(WEAK)
      turn.loss({ ...WEAK, field: 'other' })
      turn.loss(GONE)
      call.end({ why: 'closed', exitCode: 0, stderr: 'private' })
      turn.end(
        viewOf({
          text: 'private answer',
          usage: { input: 10, output: 20, reasoning: 3, cacheRead: 4, cacheWrite: 5, total: 30, costUsd: 0.25 },
          usageEstimated: true,
          losses: [GONE, { ...WEAK, count: 2 }],
          end: { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'max-tokens' },
        }),
      )
      request.end({ status: 200 })
      Object.assign(handedOn, { request: request.carrier.traceparent, turn: turn.carrier.traceparent })
      Object.assign(handedOn, { call: call.carrier.traceparent })
      for (const scope of [request, turn, call]) {
        expect(scope.carrier).toMatchObject({ tracestate: 'rojo=1', baggage: 'tenant=acme' })
      }
    })

    expect(spans).toHaveLength(3)
    const server = byName(spans, 'POST /v1/zene')
    const turn = byName(spans, 'invoke_agent helper')
    const call = byName(spans, 'zot')
    expect(shape(server)).toEqual({
      name: 'POST /v1/zene',
      kind: 'server',
      attributes: {
        'turnpike.front': 'zene',
        'http.request.method': 'POST',
        'http.route': '/v1/zene',
        'http.response.status_code': 200,
      },
      events: [],
      status: 'unset',
    })
    const ms = turn.events[1]?.attributes['turnpike.ms']
    expect(ms).toBeTypeOf('number')
    expect(shape(turn)).toEqual({
      name: 'invoke_agent helper',
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'helper',
        'gen_ai.conversation.id': 's1',
        'gen_ai.request.model': 'm-1',
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 20,
        'gen_ai.usage.reasoning.output_tokens': 3,
        'gen_ai.usage.cache_read.input_tokens': 4,
        'gen_ai.usage.cache_write.input_tokens': 5,
        'gen_ai.response.finish_reasons': ['length'],
        'turnpike.usage.total_tokens': 30,
        'turnpike.usage.cost_usd': 0.25,
        'turnpike.usage.estimated': true,
        'turnpike.turn': 't1',
        'turnpike.front': 'zene',
        'turnpike.back': 'zot',
        'turnpike.outcome': 'completed',
        'turnpike.losses': 'dropped=2;weakened=2',
      },
      events: [
        { name: 'turnpike.queued', attributes: { 'turnpike.ms': 12 } },
        { name: 'turnpike.first_event', attributes: { 'turnpike.ms': ms, 'turnpike.event.type': 'turn-started' } },
        {
          name: 'turnpike.loss',
          attributes: {
            'turnpike.loss.kind': 'weakened',
            'turnpike.loss.item': 'tool-end',
            'turnpike.loss.field': 'status',
            'turnpike.loss.why': 'too-narrow',
            'turnpike.loss.count': 1,
          },
        },
        {
          name: 'turnpike.loss',
          attributes: {
            'turnpike.loss.kind': 'dropped',
            'turnpike.loss.item': 'plan',
            'turnpike.loss.why': 'no-place',
            'turnpike.loss.count': 2,
          },
        },
        { name: 'turnpike.end', attributes: { 'turnpike.outcome': 'completed', 'turnpike.stop': 'max-tokens' } },
      ],
      status: 'unset',
    })
    expect(shape(call)).toEqual({
      name: 'zot',
      kind: 'client',
      attributes: { 'process.executable.name': 'zot', 'process.pid': 4321, 'process.exit.code': 0 },
      events: [],
      status: 'unset',
    })

    expect(spans.map((span) => span.traceId)).toEqual([TRACE, TRACE, TRACE])
    expect(server.parentSpanId).toBe(CLIENT)
    expect(turn.parentSpanId).toBe(server.spanId)
    expect(call.parentSpanId).toBe(turn.spanId)
    expect(handedOn).toEqual({
      request: `00-${TRACE}-${server.spanId}-01`,
      turn: `00-${TRACE}-${turn.spanId}-01`,
      call: `00-${TRACE}-${call.spanId}-01`,
    })
    expect(server.traceState).toBe('rojo=1')
    expect(server.resource).toMatchObject({ 'service.name': 'turnpike', 'service.version': '1.2.3' })
    expect(JSON.stringify(spans, (_key, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
      'private',
    )
  })

  test('without a usable traceparent is a trace of its own, without baggage none is handed on', async () => {
    const spans = await traced((hooks) => {
      const request = hooks.request({ ...HTTP, carrier: { traceparent: 'rubbish', tracestate: 'a=1' } })
      expect(Object.keys(request.carrier)).toEqual(['traceparent'])
      request.end({ status: 200 })
    })
    expect(spans).toHaveLength(1)
    expect(spans[0]?.parentSpanId).toBeUndefined()
    expect(spans[0]?.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(spans[0]?.traceId).not.toBe(TRACE)
  })
})

describe('a turn that fails', () => {
  test('over stdio marks the turn, the process and the request', async () => {
    const spans = await traced((hooks) => {
      const request = hooks.request({ ...STDIO, carrier: { traceparent: TRACEPARENT } })
      const turn = request.turn(TURN)
      const call = turn.call({ kind: 'process', command: './helper.sh' })
      call.started({ pid: 7 })
      call.end({ why: 'closed', exitCode: 3 })
      const end = { type: 'turn-end', turn: 't1', outcome: 'failed', stop: 'error' } as const
      turn.end(viewOf({ end: { ...end, fault: fault('agent-crashed', 'private') } }))
      request.end({ exitCode: 1 })
    })
    expect(spans).toHaveLength(3)
    expect(shape(byName(spans, 'agentproc@0.4 agentproc'))).toEqual({
      name: 'agentproc@0.4 agentproc',
      kind: 'server',
      attributes: {
        'turnpike.front': 'agentproc@0.4',
        'network.transport': 'pipe',
        'process.exit.code': 1,
        'error.type': '1',
      },
      events: [],
      status: 'error',
    })
    expect(shape(byName(spans, 'invoke_agent helper'))).toEqual({
      name: 'invoke_agent helper',
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'helper',
        'gen_ai.conversation.id': 's1',
        'gen_ai.response.finish_reasons': ['error'],
        'turnpike.turn': 't1',
        'turnpike.front': 'agentproc@0.4',
        'turnpike.back': 'zot',
        'turnpike.outcome': 'failed',
        'error.type': 'agent-crashed',
      },
      events: [{ name: 'turnpike.end', attributes: { 'turnpike.outcome': 'failed', 'turnpike.stop': 'error' } }],
      status: 'error',
    })
    expect(shape(byName(spans, 'helper.sh'))).toEqual({
      name: 'helper.sh',
      kind: 'client',
      attributes: {
        'process.executable.name': 'helper.sh',
        'process.pid': 7,
        'process.exit.code': 3,
        'error.type': '3',
      },
      events: [],
      status: 'error',
    })
  })

  test.each([
    ['no end at all', viewOf({}), 'failed', '_OTHER', 'error'],
    [
      'cancelled',
      viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'cancelled' } }),
      'cancelled',
      undefined,
      'unset',
    ],
  ] as const)('%s', async (_name, view, outcome, errorType, status) => {
    const spans = await traced((hooks) => hooks.request(HTTP).turn(TURN).end(view))
    expect(spans).toHaveLength(1)
    expect(spans[0]?.attributes['turnpike.outcome']).toBe(outcome)
    expect(spans[0]?.attributes['error.type']).toBe(errorType)
    expect(spans[0]?.attributes['gen_ai.response.finish_reasons']).toBeUndefined()
    expect(spans[0]?.status).toBe(status)
  })

  test.each([
    ['a fault of the client', 'invalid-request', { status: 400 }, 'invalid-request', 'unset'],
    ['a fault of the agent', 'agent-crashed', { status: 502 }, 'agent-crashed', 'error'],
    ['a fault after the head of a stream', 'timeout', { status: 200 }, 'timeout', 'error'],
    ['a status alone', undefined, { status: 503 }, '503', 'error'],
    ['a cancel', 'cancelled', { exitCode: 130 }, 'cancelled', 'unset'],
    ['a client error without a fault', undefined, { status: 404 }, undefined, 'unset'],
  ] as const)('a request with %s', async (_name, code, result, errorType, status) => {
    const spans = await traced((hooks) => {
      const request = hooks.request(HTTP)
      if (code) request.fault(fault(code, 'private'))
      request.end(result)
    })
    expect(spans[0]?.attributes['error.type']).toBe(errorType)
    expect(spans[0]?.status).toBe(status)
  })
})
