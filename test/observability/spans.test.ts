import { describe, expect, test } from 'vitest'
import type { ToolEvent } from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'
import {
  byName,
  CLIENT,
  COMPLETED,
  GONE,
  HTTP,
  STDIO,
  shape,
  TRACE,
  TRACEPARENT,
  TURN,
  traced,
  viewOf,
  WEAK,
} from './traced.ts'

describe('a turn that succeeds over HTTP', () => {
  test('is one tree from the client to the process, with these names, kinds and attributes', async () => {
    const handedOn: Record<string, string | undefined> = {}
    const spans = await traced((hooks) => {
      const carrier = { traceparent: TRACEPARENT, tracestate: 'rojo=1', baggage: 'tenant=acme' }
      const request = hooks.request({ ...HTTP, carrier })
      request.read!()
      const turn = request.turn({ ...TURN, model: 'm-1', route: 'channel=qq_*' })
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

    expect(spans).toHaveLength(7)
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
    const ms = turn.events[0]?.attributes['turnpike.ms']
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
        'turnpike.losses': 'weakened=2;dropped=2',
      },
      events: [
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

    const own = ['decode zene', 'route', 'queue', 'encode zene'].map((name) => byName(spans, name))
    expect(own.map(({ kind, attributes, parentSpanId }) => ({ kind, attributes, parentSpanId }))).toEqual([
      { kind: 'internal', attributes: { 'turnpike.front': 'zene' }, parentSpanId: server.spanId },
      {
        kind: 'internal',
        attributes: { 'gen_ai.agent.name': 'helper', 'turnpike.route': 'channel=qq_*' },
        parentSpanId: server.spanId,
      },
      { kind: 'internal', attributes: {}, parentSpanId: turn.spanId },
      { kind: 'internal', attributes: { 'turnpike.front': 'zene', 'turnpike.events': 9 }, parentSpanId: server.spanId },
    ])
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([TRACE]))
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
    expect(spans).toHaveLength(5)
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
    const turn = byName(spans, 'invoke_agent helper')
    expect(turn.attributes['turnpike.outcome']).toBe(outcome)
    expect(turn.attributes['error.type']).toBe(errorType)
    expect(turn.attributes['gen_ai.response.finish_reasons']).toBeUndefined()
    expect(turn.status).toBe(status)
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

describe('a request that brings no turn of its own', () => {
  const other = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }

  test.each([
    [
      'joined',
      other,
      [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), attributes: { 'turnpike.share': 'joined' } }],
    ],
    ['replayed', undefined, []],
  ] as const)('but is %s links to the one that it gets', async (how, turn, links) => {
    const spans = await traced((hooks) => {
      const request = hooks.request(HTTP)
      request.read!()
      request.shares!(how, turn)
      request.end({ status: 200 })
    })
    expect(byName(spans, 'route').attributes).toEqual({ 'turnpike.share': how })
    expect(byName(spans, 'POST /v1/zene').links).toEqual(links)
  })

  test('because it was refused says why on its way', async () => {
    const spans = await traced((hooks) => {
      const request = hooks.request(HTTP)
      request.read!()
      request.fault(fault('session-busy', 'private'))
      request.read!()
      request.end({ status: 409 })
    })
    const routes = spans.filter(({ name }) => name === 'route')
    expect(routes.map(({ attributes, status }) => [attributes['error.type'], status])).toEqual([
      ['session-busy', 'error'],
      [undefined, 'unset'],
    ])
    expect(spans.filter(({ name }) => name === 'decode zene')).toHaveLength(2)
  })
})

describe('the tools of a turn', () => {
  const start = (tool: string, executor: 'agent' | 'client' = 'agent'): ToolEvent => ({
    type: 'tool-start',
    turn: 't1',
    tool,
    name: 'read_file',
    executor,
  })
  const end = (tool: string, status: 'ok' | 'error' | 'denied' | 'cancelled'): ToolEvent => ({
    type: 'tool-end',
    turn: 't1',
    tool,
    status,
    parts: [{ type: 'text', text: 'private' }],
  })

  test('have a span each, below the turn, without arguments and results', async () => {
    const spans = await traced((hooks) => {
      const turn = hooks.request(HTTP).turn({ ...TURN, content: { input: [] } })
      turn.tool!(start('a'))
      turn.tool!({
        type: 'tool-call',
        turn: 't1',
        tool: 'a',
        name: 'read_file',
        args: '{"private":1}',
        executor: 'agent',
      })
      turn.tool!(start('b', 'client'))
      turn.tool!(end('a', 'ok'))
      turn.tool!(end('b', 'denied'))
      turn.tool!(end('unknown', 'ok'))
      turn.tool!(start('c'))
      turn.end(COMPLETED)
    })
    const tools = spans.filter(({ name }) => name.startsWith('execute_tool'))
    const attributes = (id: string, type: string) => ({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read_file',
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': type,
      'turnpike.observed': true,
    })
    const base = { name: 'execute_tool read_file', kind: 'internal', events: [] }
    expect(tools.map(shape)).toEqual([
      { ...base, attributes: attributes('a', 'extension'), status: 'unset' },
      { ...base, attributes: { ...attributes('b', 'function'), 'error.type': 'denied' }, status: 'error' },
      { ...base, attributes: { ...attributes('c', 'extension'), 'error.type': '_OTHER' }, status: 'error' },
    ])
    const { spanId } = byName(spans, 'invoke_agent helper')
    expect(new Set(tools.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([spanId]))
  })

  test('beyond 128 have none', async () => {
    const spans = await traced((hooks) => {
      const turn = hooks.request(HTTP).turn(TURN)
      for (let n = 0; n < 130; n += 1) turn.tool!(start(`t${n}`))
      turn.end(COMPLETED)
    })
    expect(spans.filter(({ name }) => name.startsWith('execute_tool'))).toHaveLength(128)
  })
})
