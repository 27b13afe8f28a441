import { TraceFlags, trace } from '@opentelemetry/api'
import { describe, expect, test } from 'vitest'
import { ATTR, FINISH_REASON, methodAttributes, methodName } from '../../observability/attributes.ts'
import { cut, inputMessages, outputMessages, systemInstructions, toolResult } from '../../observability/content.ts'
import { carrierOf, parentContext, spanContextOf } from '../../observability/context.ts'
import { exportWatch } from '../../observability/export-watch.ts'
import type { MessageView, Part, TurnView } from '../../src/model/index.ts'

const LONG = 'x'.repeat(65_537)

describe('the content of a turn', () => {
  test('has the texts of its input, and the kinds of other parts without their bytes', () => {
    const input: Part[] = [
      { type: 'text', text: 'Look.' },
      { type: 'text', text: '' },
      { type: 'image', base64: 'c2VjcmV0', mime: 'image/png', name: 'secret.png' },
      { type: 'file', url: 'https://secret' },
      { type: 'data', json: '{"secret":1}' },
    ]
    expect(JSON.parse(inputMessages({ input }))).toEqual([
      {
        role: 'user',
        parts: [{ type: 'text', content: 'Look.' }, { type: 'image', mime_type: 'image/png' }, { type: 'file' }],
      },
    ])
  })

  test('has its instructions', () => {
    expect(JSON.parse(systemInstructions('Be brief.'))).toEqual([{ type: 'text', content: 'Be brief.' }])
    expect(JSON.parse(systemInstructions(''))).toEqual([])
  })

  test('has the messages of the main agent', () => {
    const message = (more: Partial<MessageView>) => ({
      role: 'assistant',
      lane: undefined,
      text: '',
      reasoning: '',
      ...more,
    })
    const messages = [
      message({ role: 'user', text: 'asked' }),
      message({ text: 'a', reasoning: 'r' }),
      message({ lane: 'sub', text: 'of a sub-agent' }),
      message({ text: 'b' }),
    ]
    const view = { messages } as unknown as TurnView
    expect(JSON.parse(outputMessages(view, 'length'))).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'r' },
          { type: 'text', content: 'a' },
        ],
        finish_reason: 'length',
      },
      { role: 'assistant', parts: [{ type: 'text', content: 'b' }], finish_reason: 'length' },
    ])
    expect(JSON.parse(outputMessages(view))[1]).toHaveProperty('finish_reason', 'stop')
  })

  test('is cut where it is too long for an attribute', () => {
    expect(cut(LONG)).toHaveLength(65_536)
    expect(toolResult([{ type: 'text', text: LONG }])).toHaveLength(65_536)
    expect(JSON.parse(inputMessages({ input: [{ type: 'text', text: LONG }] }))[0].parts[0].content).toHaveLength(
      65_536,
    )
    expect(
      toolResult([
        { type: 'text', text: 'a' },
        { type: 'image', url: 'x:y' },
        { type: 'text', text: 'b' },
      ]),
    ).toBe('a\nb')
  })
})

describe('attributes', () => {
  test.each(['GET', 'POST', 'DELETE', 'QUERY'])('name the method %s', (method) => {
    expect(methodAttributes(method)).toEqual({ [ATTR.httpMethod]: method })
    expect(methodName(method)).toBe(method)
  })

  test.each(['get', 'BREW', '', 'GET '])('do not let a client name spans: %j', (method) => {
    expect(methodAttributes(method)).toEqual({ [ATTR.httpMethod]: '_OTHER', [ATTR.httpMethodOriginal]: method })
    expect(methodName(method)).toBe('HTTP')
  })

  test('have names of their own, and a reason for every stop', () => {
    const names = Object.values(ATTR)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z_]+(\.[a-z_]+)+$/)
    for (const reason of Object.values(FINISH_REASON)) expect(reason).toMatch(/^[a-z_]+$/)
  })
})

describe('a carrier', () => {
  const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

  test('is read as a span, and written again', () => {
    const carrier = { traceparent: TRACEPARENT, tracestate: 'a=1,b=2' }
    const context = spanContextOf(carrier)!
    expect(context).toMatchObject({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      traceFlags: TraceFlags.SAMPLED,
      isRemote: true,
    })
    const span = trace.wrapSpanContext(context)
    expect(carrierOf(span, undefined)).toEqual(carrier)
    expect(carrierOf(span, 'user=7')).toEqual({ ...carrier, baggage: 'user=7' })
    expect(carrierOf(trace.wrapSpanContext(spanContextOf({ traceparent: TRACEPARENT })!), undefined)).toEqual({
      traceparent: TRACEPARENT,
    })
  })

  test.each([undefined, '', 'x', TRACEPARENT.replace('00f067aa0ba902b7', '0000000000000000')])(
    'without a usable traceparent (%s) begins a trace',
    (traceparent) => {
      const carrier = { ...(traceparent !== undefined && { traceparent }), tracestate: 'a=1' }
      expect(spanContextOf(carrier)).toBeUndefined()
      expect(trace.getSpan(parentContext(carrier))).toBeUndefined()
    },
  )
})

describe('the watch of an exporter', () => {
  function watch() {
    const said: string[] = []
    const url = new URL('http://user:secret@collector:4318/v1/traces')
    const take = exportWatch({ what: 'Traces', url, meaning: 'they are lost', warn: (text) => said.push(text) })
    return { said, take }
  }

  test('warns once when exports begin to fail, and once when they work again', () => {
    const { said, take } = watch()
    const refused = Object.assign(new Error('secret answer'), { code: 'ECONNREFUSED' })
    for (const result of [{ code: 0 }, { code: 1, error: refused }, { code: 1 }, { code: 0 }, { code: 0 }]) take(result)
    expect(said).toEqual([
      'Traces do not reach the collector at collector:4318 (ECONNREFUSED); they are lost.',
      'Traces reach the collector at collector:4318 again.',
    ])
  })

  test.each([
    [{ code: 1 }, 'no answer in time'],
    [{ code: 1, error: new Error('secret') }, 'no answer in time'],
    [{ code: 1, error: Object.assign(new Error('x'), { code: 503 }) }, '503'],
    [{ code: 0, error: Object.assign(new Error('x'), { code: 'EPIPE' }) }, 'EPIPE'],
  ])('names the reason of %j without what the collector said', (result, reason) => {
    const { said, take } = watch()
    take(result)
    expect(said).toEqual([`Traces do not reach the collector at collector:4318 (${reason}); they are lost.`])
  })
})
