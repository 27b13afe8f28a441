import { ROOT_CONTEXT } from '@opentelemetry/api'
import { describe, expect, test } from 'vitest'
import { ToolSpans } from '../../observability/tools.ts'
import type { ToolEvent } from '../../src/contract/index.ts'
import { ownTracer } from './own-tracer.ts'

const begin = (tool: string, more: object = {}): ToolEvent => ({
  type: 'tool-start',
  turn: 't',
  tool,
  name: 'read_file',
  executor: 'agent',
  ...more,
})
const call = (tool: string, args = '{}', more: object = {}): ToolEvent => ({
  type: 'tool-call',
  turn: 't',
  tool,
  name: 'read_file',
  executor: 'agent',
  args,
  ...more,
})
const end = (tool: string, more: Partial<Extract<ToolEvent, { type: 'tool-end' }>> = {}): ToolEvent => ({
  type: 'tool-end',
  turn: 't',
  tool,
  status: 'ok',
  parts: [],
  ...more,
})

function tools(content = false) {
  const { tracer, ended } = ownTracer()
  const spans = new ToolSpans(tracer, ROOT_CONTEXT, content)
  return {
    ended,
    close: () => spans.close(),
    take: (...events: ToolEvent[]) => {
      for (const event of events) spans.take(event)
    },
  }
}

describe('the span of a tool call', () => {
  test('begins with the call and ends with its end', () => {
    const { take, ended } = tools()
    take(begin('1'), call('1'))
    expect(ended()).toEqual([])
    take(end('1'))
    expect(ended()).toEqual([
      {
        name: 'execute_tool read_file',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'read_file',
          'gen_ai.tool.call.id': '1',
          'gen_ai.tool.type': 'extension',
          'turnpike.observed': true,
        },
        events: [],
        links: [],
        failed: false,
      },
    ])
  })

  test('begins with complete arguments where nothing announced the call', () => {
    const { take, ended } = tools()
    take(call('1'), end('1'))
    expect(ended()).toHaveLength(1)
  })

  test('is one for each call, also of the same tool at once', () => {
    const { take, ended } = tools()
    take(begin('1'), begin('2'), begin('1'), end('2'), end('1'), end('1'))
    expect(ended().map(({ attributes }) => attributes['gen_ai.tool.call.id'])).toEqual(['2', '1'])
  })

  test('is none for an end alone', () => {
    const { take, ended } = tools()
    take(end('1'))
    expect(ended()).toEqual([])
  })

  test.each([
    ['client', 'function'],
    ['agent', 'extension'],
  ] as const)('of a call that the %s runs has the type %s', (executor, type) => {
    const { take, ended } = tools()
    take(begin('1', { executor }), end('1'))
    expect(ended()[0]!.attributes['gen_ai.tool.type']).toBe(type)
  })

  test.each([
    ['ok', undefined, false],
    ['error', 'tool_error', true],
    ['denied', 'denied', true],
    ['cancelled', 'cancelled', true],
  ] as const)('of a call that ends with %s has the error %s', (status, error, failed) => {
    const { take, ended } = tools()
    take(begin('1'), end('1', { status }))
    expect([ended()[0]!.attributes['error.type'], ended()[0]!.failed]).toEqual([error, failed])
  })

  test('ends with the turn at the latest, as failed', () => {
    const { take, ended, close } = tools()
    take(begin('1'), begin('2'), end('2'))
    close()
    close()
    take(end('1'))
    expect(ended().map(({ attributes, failed }) => [attributes['gen_ai.tool.call.id'], failed])).toEqual([
      ['2', false],
      ['1', true],
    ])
    expect(ended()[1]!.attributes['error.type']).toBe('_OTHER')
  })

  test('is made for the first 128 calls of a turn', () => {
    const { take, ended } = tools()
    for (let call = 0; call < 130; call += 1) take(begin(`${call}`), end(`${call}`))
    expect(ended().map(({ attributes }) => attributes['gen_ai.tool.call.id'])).toEqual(
      Array.from({ length: 128 }, (_, at) => `${at}`),
    )
  })

  test('has no more than 128 characters of a name', () => {
    const { take, ended } = tools()
    take(begin('1', { name: 'x'.repeat(129) }), end('1'))
    expect([ended()[0]!.name, ended()[0]!.attributes['gen_ai.tool.name']]).toEqual([
      `execute_tool ${'x'.repeat(128)}`,
      'x'.repeat(128),
    ])
  })
})

describe('the content of a tool call', () => {
  const parts = [
    { type: 'text', text: 'sunny' },
    { type: 'image', mime: 'image/png', data: 'AA==' },
  ] as never

  test('stays away when it is not wanted', () => {
    const { take, ended } = tools()
    take(begin('1'), call('1', '{"city":"Paris"}'), end('1', { parts }))
    expect(JSON.stringify(ended())).not.toMatch(/Paris|sunny/)
  })

  test('is its arguments and the text of its result', () => {
    const { take, ended } = tools(true)
    take(begin('1'), call('1', '{"city":"Paris"}'), end('1', { parts }))
    expect(ended()[0]!.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"city":"Paris"}',
      'gen_ai.tool.call.result': 'sunny',
    })
  })

  test('is cut to 65,536 characters', () => {
    const { take, ended } = tools(true)
    const long = 'x'.repeat(70_000)
    take(call('1', long), end('1', { parts: [{ type: 'text', text: long }] }))
    const { attributes } = ended()[0]!
    expect([
      String(attributes['gen_ai.tool.call.arguments']).length,
      String(attributes['gen_ai.tool.call.result']).length,
    ]).toEqual([65_536, 65_536])
  })
})
