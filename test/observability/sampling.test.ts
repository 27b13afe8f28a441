import { describe, expect, test } from 'vitest'
import { type Hooks, silentHooks, type TurnInfo } from '../../src/contract/index.ts'
import {
  byName,
  CLIENT,
  COMPLETED,
  HTTP,
  messageOf,
  receiver,
  TRACE,
  TRACEPARENT,
  TURN,
  traced,
  viewOf,
  WEAK,
} from './traced.ts'

describe('sampling', () => {
  test('an unsampled parent exports nothing and is handed on unsampled', async () => {
    const spans = await traced((hooks) => {
      const carrier = { traceparent: `00-${TRACE}-${CLIENT}-00`, tracestate: 'rojo=1' }
      const request = hooks.request({ ...HTTP, carrier })
      const turn = request.turn(TURN)
      const process = turn.call({ kind: 'process', command: 'a' })
      const http = turn.call({ kind: 'http', method: 'GET', url: 'http://a/' })
      for (const scope of [request, turn, process, http]) {
        expect(scope.carrier.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
        expect(scope.carrier.tracestate).toBe('rojo=1')
      }
      turn.queued(1)
      turn.firstEvent({ type: 'turn-started', turn: 't1' })
      turn.loss(WEAK)
      process.end({ why: 'closed', exitCode: 0 })
      http.end({ why: 'closed' })
      turn.end(COMPLETED)
      request.end({ status: 200 })
    })
    expect(spans).toEqual([])
    expect(receiver.exports()).toEqual([])
  })

  test.each([
    ['the second', [false, true, false]],
    ['the first and third', [true, false, true]],
  ])('a process whose turns are recorded as %s has a span for each of these', async (_which, recorded) => {
    const spans = await traced((hooks) => {
      const [first, ...later] = recorded.map((sampled) => {
        const traceparent = `00-${TRACE}-${CLIENT}-0${Number(sampled)}`
        return hooks.request({ ...HTTP, carrier: { traceparent } }).turn(TURN)
      })
      const process = first!.call({ kind: 'process', command: 'zot' })
      process.started({ pid: 9 })
      process.ready()
      first!.end(COMPLETED)
      for (const turn of later) {
        turn.linked('kept', { scope: process, pid: 9 })
        turn.end(COMPLETED)
      }
      process.end({ why: 'closed', exitCode: 0 })
    })
    const served = spans.filter(({ name }) => name === 'zot')
    expect(served.map(({ attributes }) => attributes['process.pid'])).toEqual(recorded.filter(Boolean).map(() => 9))
  })

  test('a share of 0 records no trace of its own, and every one whose client does', async () => {
    const spans = await traced(
      (hooks) => {
        const own = hooks.request(HTTP)
        expect(own.carrier.traceparent).toMatch(/-00$/)
        own.end({ status: 200 })
        hooks.request({ ...HTTP, carrier: { traceparent: TRACEPARENT } }).end({ status: 200 })
      },
      { sample: 0 },
    )
    expect(spans.map((span) => span.parentSpanId)).toEqual([CLIENT])
  })

  describe('of a turn whose client has a trace of its own for it', () => {
    const OTHER = `${TRACE.slice(0, -2)}99`
    const own = (flags: string) => ({
      ...TURN,
      carrier: { traceparent: `00-${OTHER}-${CLIENT}-${flags}`, baggage: 'a=1' },
    })

    test.each([
      ['recorded', {}, 1],
      ['not recorded', { sample: 0 }, 0],
    ])('is that of its client, on a wire that is %s', async (_wire, config, links) => {
      const spans = await traced((hooks) => {
        const wire = hooks.request(HTTP)
        const turn = wire.turn(own('01'))
        expect(turn.carrier).toEqual({ traceparent: expect.stringMatching(`^00-${OTHER}-.*-01$`), baggage: 'a=1' })
        expect(wire.turn(own('00')).carrier.traceparent).toMatch(new RegExp(`^00-${OTHER}-.*-00$`))
        expect(wire.turn({ ...TURN, carrier: { traceparent: 'x' } }).carrier.traceparent).not.toContain(OTHER)
        turn.end(COMPLETED)
        wire.end({ status: 200 })
      }, config)
      const { traceId, parentSpanId, links: linked } = byName(spans, 'invoke_agent helper')
      expect([traceId, parentSpanId, linked.length]).toEqual([OTHER, CLIENT, links])
    })

    test('is handed on where nothing is observed', () => {
      const wire = silentHooks.request({ ...HTTP, carrier: { traceparent: TRACEPARENT } })
      expect(wire.turn(own('01')).call({ kind: 'process', command: 'a' }).carrier).toEqual(own('01').carrier)
      expect(wire.turn(TURN).carrier).toEqual({ traceparent: TRACEPARENT })
    })
  })

  test('a share in between follows the trace id', async () => {
    const decisions: boolean[] = []
    const spans = await traced(
      (hooks) => {
        for (let n = 0; n < 400; n += 1) {
          const request = hooks.request(HTTP)
          decisions.push(request.carrier.traceparent?.endsWith('-01') === true)
          request.end({ status: 200 })
        }
      },
      { sample: 0.5 },
    )
    expect(spans).toHaveLength(decisions.filter(Boolean).length)
    expect(new Set(decisions)).toEqual(new Set([true, false]))
  })
})

const PUBLIC: TurnInfo = {
  ...TURN,
  content: {
    input: [
      { type: 'text', text: 'the question' },
      { type: 'image', mime: 'image/png', base64: 'AAAA' },
      { type: 'data', json: '{}' },
    ],
    systemPrompt: 'be kind',
  },
}

describe('content', () => {
  const view = viewOf({
    end: { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    messages: [
      messageOf({ text: 'the answer', reasoning: 'the thought' }),
      messageOf({ text: 'of a sub-agent', lane: 'sub' }),
      messageOf({ text: 'of a tool', role: 'tool' }),
    ],
  })

  test('is recorded when asked for', async () => {
    const spans = await traced((hooks) => hooks.request(HTTP).turn(PUBLIC).end(view), { content: true })
    const { attributes } = byName(spans, 'invoke_agent helper')
    expect(JSON.parse(attributes['gen_ai.input.messages'] as string)).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'the question' },
          { type: 'image', mime_type: 'image/png' },
        ],
      },
    ])
    expect(attributes['gen_ai.system_instructions']).toBe('[{"type":"text","content":"be kind"}]')
    expect(JSON.parse(attributes['gen_ai.output.messages'] as string)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'the thought' },
          { type: 'text', content: 'the answer' },
        ],
        finish_reason: 'stop',
      },
    ])
  })

  test('of tools is recorded with it', async () => {
    const tool = { turn: 't1', tool: 'a', name: 'x' } as const
    const drive = (hooks: Hooks): void => {
      const turn = hooks.request(HTTP).turn(PUBLIC)
      turn.tool!({ ...tool, type: 'tool-call', args: '{"n":1e400}', executor: 'agent' })
      turn.tool!({ ...tool, type: 'tool-end', status: 'ok', parts: [{ type: 'text', text: 'found' }] })
      turn.end(view)
    }
    const { attributes } = byName(await traced(drive, { content: true }), 'execute_tool x')
    expect(attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"n":1e400}',
      'gen_ai.tool.call.result': 'found',
    })
  })

  test.each([
    ['by default', PUBLIC, false],
    ['of a turn that must stay private', TURN, true],
  ])('is not recorded %s', async (_name, turn, content) => {
    const spans = await traced((hooks) => hooks.request(HTTP).turn(turn).end(view), { content })
    const names = Object.keys(byName(spans, 'invoke_agent helper').attributes)
    expect(names.filter((name) => /messages|instructions/.test(name))).toEqual([])
  })

  test('of any length stays JSON; other attributes are cut', async () => {
    const long = { ...view, messages: [messageOf({ text: 'x'.repeat(100_000) })] }
    const spans = await traced((hooks) => hooks.request(HTTP).turn(PUBLIC).end(long), { content: true })
    const [message] = JSON.parse(byName(spans, 'invoke_agent helper').attributes['gen_ai.output.messages'] as string)
    expect(message.parts[0].content).toBe('x'.repeat(65_536))
  })

  test('from a client as a session id is cut', async () => {
    const turn = { ...TURN, session: 's'.repeat(5_000) }
    const spans = await traced((hooks) => hooks.request(HTTP).turn(turn).end(COMPLETED))
    expect(byName(spans, 'invoke_agent helper').attributes['gen_ai.conversation.id']).toBe('s'.repeat(1_024))
  })
})

test('without telemetry the client’s own context is passed on unchanged', () => {
  const carrier = { traceparent: TRACEPARENT, tracestate: 'a=1', baggage: 'b=2' }
  const request = silentHooks.request({ ...HTTP, carrier })
  const turn = request.turn(TURN)
  expect([request.carrier, turn.carrier, turn.call({ kind: 'process', command: 'a' }).carrier]).toEqual([
    carrier,
    carrier,
    carrier,
  ])
})
