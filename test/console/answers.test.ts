import { describe, expect, test } from 'vitest'
import { answerOf } from '../../console/logic/answer.ts'
import { barsOf, pathOf, topOf } from '../../console/logic/chart.ts'
import { isObject, jsonOf, jsonText, parsed, readJson } from '../../console/logic/json.ts'
import { groupsOf, shadeOf } from '../../console/logic/matrix.ts'
import { fieldsOf, valuesOf } from '../../console/logic/schema-form.ts'
import type { NumberedEvent } from '../../console/logic/types.ts'

function numbered(...events: object[]): NumberedEvent[] {
  return events.map((event, at) => ({ turn: 't', seq: at + 1, ...event }) as NumberedEvent)
}

describe('an answer', () => {
  test('is what the agent has said so far, in order', () => {
    const events = numbered(
      { type: 'reasoning-delta', message: 'r', text: 'hm' },
      { type: 'message-start', message: 'm', role: 'assistant' },
      { type: 'text-delta', message: 'm', text: 'Hel' },
      { type: 'tool-start', tool: 'a', name: 'bash', executor: 'agent' },
      { type: 'tool-call', tool: 'a', name: 'bash', args: { command: 'ls' }, executor: 'agent' },
      { type: 'text-delta', message: 'm', text: 'lo' },
      { type: 'tool-end', tool: 'a', status: 'ok', parts: [{ type: 'text', text: 'a.txt' }] },
      { type: 'notice', severity: 'warning', code: 'x', text: 'slow' },
      {
        type: 'message-end',
        message: 'n',
        parts: [
          { type: 'reasoning', text: 'no' },
          { type: 'text', text: 'Whole.' },
        ],
      },
      { type: 'text-delta', message: 'gone', text: 'oops' },
      { type: 'message-retract', message: 'gone', keepText: false },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    )
    expect(answerOf(events)).toEqual({
      said: [
        { kind: 'reasoning', id: 'reasoning r', text: 'hm' },
        { kind: 'text', id: 'text m', text: 'Hello' },
        { kind: 'tool', id: 'tool a', name: 'bash', args: '{"command":"ls"}', status: 'ok', text: 'a.txt' },
        { kind: 'notice', id: '8', text: 'warning: slow' },
        { kind: 'text', id: 'text n', text: 'Whole.' },
      ],
      asks: [],
      text: 'Hello\n\nWhole.',
      end: 'completed · end',
    })
  })

  test('has the questions that are open while it runs', () => {
    const ask = { type: 'ask', ask: 'q', question: { kind: 'input', message: 'Name?' } }
    expect(answerOf(numbered(ask)).asks).toMatchObject([{ ask: 'q' }])
    expect(answerOf(numbered(ask, { type: 'ask-settled', ask: 'q', how: 'answered' })).asks).toEqual([])
    expect(answerOf(numbered(ask, { type: 'turn-end', outcome: 'failed' })).asks).toEqual([])
  })
})

describe('a form', () => {
  const fields = fieldsOf({
    type: 'object',
    required: ['tag', 'count', 'kind'],
    properties: {
      tag: { type: 'string', title: 'Tag', description: 'as in git', minLength: 2, pattern: '^v' },
      count: { type: 'integer', default: 2, minimum: 1 },
      channel: { enum: ['stable', 'beta'], enumNames: ['Stable', 'Beta'], default: 'beta' },
      kind: { oneOf: [{ const: 1, title: 'One' }, { const: '1' }] },
      scopes: { type: 'array', items: { anyOf: [{ const: 'a' }, { const: 'b', title: 'B' }] }, default: ['b'] },
      store: { type: 'string', examples: ['SQLite', 'PostgreSQL'] },
      mail: { type: 'string', format: 'email', title: '' },
      dry: { type: 'boolean', default: true },
      more: { type: 'array', default: [1] },
      any: { anyOf: [{ type: 'string' }, { const: 1 }] },
      odd: true,
    },
  })!
  const given = { tag: ['v1'], count: ['3'], kind: ['1'] }
  const fieldOf = (name: string) => fields.find((field) => field.name === name)!

  test('has a field for each property', () => {
    expect(fields.map(({ label, kind, required, initial }) => [label, kind, required, initial])).toEqual([
      ['Tag', 'text', true, []],
      ['count', 'number', true, ['2']],
      ['channel', 'choice', false, ['"beta"']],
      ['kind', 'choice', true, []],
      ['scopes', 'many', false, ['"b"']],
      ['store', 'choice', false, []],
      ['mail', 'text', false, []],
      ['dry', 'flag', false, ['true']],
      ['more', 'json', false, ['[1]']],
      ['any', 'json', false, []],
      ['odd', 'json', false, []],
    ])
    expect(fieldOf('tag').description).toBe('as in git')
  })

  test('has the choices of its schema by their titles, and suggestions where any text will do', () => {
    expect(fieldOf('channel').choices.map(({ label }) => label)).toEqual(['Stable', 'Beta'])
    expect(fieldOf('kind').choices).toEqual([
      { json: '1', label: 'One' },
      { json: '"1"', label: '1' },
    ])
    expect(fields.filter(({ open }) => open).map(({ name }) => name)).toEqual(['store'])
  })

  test('has the browser check what the schema demands of a text or a number', () => {
    expect(fieldOf('tag').checks).toEqual({ minlength: 2, pattern: '.*(?:^v).*' })
    expect(fieldOf('count').checks).toEqual({ min: 1, step: 1, type: 'number' })
    expect(fieldOf('mail').checks).toEqual({ type: 'email' })
    expect(fieldOf('channel').checks).toEqual({})
  })

  test('gives values of the types of its schema', () => {
    const all = {
      channel: ['"beta"'],
      scopes: ['"a"', '"b"'],
      store: ['"Redis"'],
      dry: ['true'],
      more: ['[1]'],
      odd: [''],
    }
    expect(valuesOf(fields, { ...given, ...all })).toEqual({
      tag: 'v1',
      count: 3,
      channel: 'beta',
      kind: 1,
      scopes: ['a', 'b'],
      store: 'Redis',
      dry: true,
      more: [1],
    })
    expect(valuesOf(fields, { ...given, tag: [''], kind: ['"1"'] })).toEqual({
      tag: '',
      count: 3,
      kind: '1',
      dry: false,
    })
  })

  test.each([
    [{ count: ['many'] }, 'count: write a number'],
    [{ kind: [] }, 'kind: choose one'],
    [{ kind: ['2'] }, 'kind: choose one'],
    [{ scopes: ['"c"'] }, 'scopes: choose at least one'],
    [{ more: ['['] }, 'more: write JSON'],
  ])('says what is wrong with %j', (entries, problem) => {
    expect(valuesOf(fields, { ...given, ...entries })).toBe(problem)
  })

  test('takes a property of any name', () => {
    const [field] = fieldsOf('{"properties":{"__proto__":{"type":"string"}}}')!
    const entries = Object.fromEntries([['__proto__', ['x']]])
    expect(JSON.stringify(valuesOf([field!], entries))).toBe('{"__proto__":"x"}')
  })

  test.each([undefined, '{', '[]', null, { type: 'string' }, { properties: [] }])('%o is no form', (schema) => {
    expect(fieldsOf(schema)).toBeUndefined()
  })
})

test('JSON is written again with the digits that it had', () => {
  const text = '{"a":2.50,"b":1e400,"c":9007199254740993,"d":[1,-0.0,"2.50"]}'
  expect(JSON.stringify(readJson(text))).toBe(text)
  expect(readJson('{"seq":7,"at":1767225600000,"cost":1e-7}')).toEqual({ seq: 7, at: 1767225600000, cost: 1e-7 })
  expect([jsonText(readJson('{"a":2.50}')), jsonText('as it is'), jsonOf('[1'), jsonOf('[1]')]).toEqual([
    '{\n  "a": 2.50\n}',
    'as it is',
    '[1',
    [1],
  ])
  expect([parsed('{'), parsed('null'), isObject(parsed('{}')), isObject([])]).toEqual([undefined, null, true, false])
})

describe('a chart', () => {
  test.each([
    [[], 1],
    [[0, 0], 1],
    [[0.03], 0.05],
    [[7, 3], 10],
    [[10], 10],
    [[11], 20],
    [[230], 500],
  ])('of %j ends at %s', (values, top) => {
    expect(topOf(values)).toBe(top)
  })

  test('stacks bars', () => {
    expect(barsOf([5, 10], 20, [10])).toEqual([
      { x: 30, y: 30, width: 240, height: 30 },
      { x: 330, y: 60, width: 240, height: 60 },
    ])
  })

  test('breaks a line where there is no value', () => {
    expect(pathOf([0, 10, undefined, 5], 10)).toBe('M75.0 120.0h2L225.0 0.0M525.0 60.0h2')
    expect(pathOf([undefined], 10)).toBe('')
  })
})

test('the matrix groups items, and shades cells by their share', () => {
  const losses = ['start.history', 'query.models', 'part.image', 'ask.input', 'tool.kind', 'usage.total', 'plan'].map(
    (item) => ({ item, kind: 'lost', why: 'Agents of zot have no place for it.' }) as const,
  )
  expect(groupsOf(losses).map(({ name, losses }) => `${name}: ${losses.map(({ item }) => item).join()}`)).toEqual([
    'The request: start.history',
    'Questions to the gateway: query.models',
    'Parts of messages: part.image',
    'Questions of the agent: ask.input',
    'Tools: tool.kind',
    'Tokens and cost: usage.total',
    'Everything else of the answer: plan',
  ])
  expect([0, 1, 25, 50, 99, 100].map((count) => shadeOf(count, 100))).toEqual([0, 1, 1, 2, 4, 4])
})
