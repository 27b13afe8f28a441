import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../../src/engine/record/fingerprint.ts'
import type { Command, Part, SessionRef, TurnOptions, TurnStart } from '../../src/model/index.ts'

type Start = Command & TurnStart

const START: Start = {
  exchange: 'x1',
  type: 'turn-start',
  turn: 't1',
  task: 'prompt',
  input: [{ type: 'text', text: 'hi' }],
  options: {},
  once: { key: 'k', duplicate: 'join', replay: 'success', incidental: ['attempt'] },
}

/** A value of each member: the request with it is another one than without, or (`same`) it is not. */
type Row<T> = readonly [how: 'same' | 'other', value: T]
/** With a new member of a type that has no row nothing compiles. */
type Table<T> = { readonly [M in keyof Required<T>]: Row<NonNullable<T[M]>> }

const OF_START: Table<Start> = {
  type: ['same', 'turn-start'],
  exchange: ['same', 'x2'],
  turn: ['same', 't2'],
  request: ['same', 'r2'],
  agent: ['same', 'coder'],
  once: ['same', { ...START.once!, key: 'k2', duplicate: 'tell', replay: 'never', ttlMs: 7, holds: 'running' }],
  retry: ['same', true],
  user: ['other', 'me'],
  task: ['other', 'compact'],
  input: ['other', [{ type: 'text', text: 'ho' }]],
  options: ['other', { model: 'm' }],
  session: ['other', { id: 's' }],
  ext: ['other', { protocol: 'zene', json: '{"a":1}' }],
  invocation: ['other', { kind: 'slash', path: ['help'], args: '' }],
  after: ['other', 't0'],
  history: ['other', [{ role: 'user', parts: [] }]],
  historyMode: ['other', 'complete'],
  clientTools: ['other', [{ name: 'ls', schema: '{}' }]],
  askedCapabilities: ['other', ['streaming']],
  environment: ['other', { privacy: 'public', json: '{"cwd":"/"}' }],
  cwd: ['other', '/work'],
  folders: ['other', ['/docs']],
  mcpServers: ['other', [{ name: 'm', type: 'http', url: 'http://127.0.0.1/', headers: {} }]],
}

const OF_OPTIONS: Table<TurnOptions> = {
  streaming: ['same', true],
  totalMs: ['same', 5],
  model: ['other', 'm'],
  temperature: ['other', 0],
  topP: ['other', 0],
  maxTokens: ['other', 9],
  stop: ['other', ['END']],
  effort: ['other', 'high'],
  systemPrompt: ['other', ''],
  tools: ['other', []],
  toolChoice: ['other', 'none'],
  parallelTools: ['other', false],
  outputSchema: ['other', '{}'],
  locale: ['other', 'de'],
}

const OF_SESSION: Table<SessionRef> = {
  bound: ['same', 'b'],
  origin: ['same', 'o'],
  id: ['other', 's'],
  conversation: ['other', 'c'],
  channel: ['other', 'q'],
  name: ['other', 'n'],
  continuation: ['other', 'token'],
}

/** Two prompts for each kind of part, which differ in one member. */
const PARTS: { readonly [K in Part['type']]: readonly (readonly [Part, Part])[] } = {
  text: [
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'a ' },
    ],
  ],
  image: [
    [
      { type: 'image', url: 'a' },
      { type: 'image', ref: 'a' },
    ],
    [
      { type: 'image', base64: 'AAAA' },
      { type: 'image', base64: 'AAAB' },
    ],
  ],
  audio: [
    [
      { type: 'audio', ref: 'a' },
      { type: 'file', ref: 'a' },
    ],
  ],
  file: [
    [
      { type: 'file', ref: 'a', name: 'x' },
      { type: 'file', ref: 'a' },
    ],
    [
      { type: 'file', ref: 'a', mime: 'x', bytes: 1 },
      { type: 'file', ref: 'a', mime: 'x' },
    ],
  ],
  data: [
    [
      { type: 'data', json: '{"n":9007199254740993}' },
      { type: 'data', json: '{"n":9007199254740992}' },
    ],
  ],
  reasoning: [
    [
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'a', seal: { provider: 'p', data: 'd' } },
    ],
  ],
  'tool-call': [
    [
      { type: 'tool-call', tool: 'c', name: 'ls', args: '{"a":1}' },
      { type: 'tool-call', tool: 'c', name: 'ls', args: '{"a":"1"}' },
    ],
    // Arguments of a model that was cut off.
    [
      { type: 'tool-call', tool: 'c', name: 'ls', args: '{"a":"x' },
      { type: 'tool-call', tool: 'c', name: 'ls', args: '{"a":"y' },
    ],
  ],
  'tool-reply': [
    [
      { type: 'tool-reply', tool: 'c', status: 'ok', parts: [{ type: 'text', text: 'a' }] },
      { type: 'tool-reply', tool: 'c', status: 'ok', parts: [{ type: 'text', text: 'b' }] },
    ],
  ],
  diff: [
    [
      { type: 'diff', path: 'p', before: null, after: '' },
      { type: 'diff', path: 'p', before: '', after: '' },
    ],
  ],
}

const rowsOf = <T>(table: Table<T>): [string, Row<unknown>][] => Object.entries(table) as [string, Row<unknown>][]

describe('the fingerprint of a request', () => {
  test.each([
    ...rowsOf(OF_START).map(([name, [how, value]]) => [name, how, { ...START, [name]: value }] as const),
    ...rowsOf(OF_OPTIONS).map(
      ([name, [how, value]]) => [`options.${name}`, how, { ...START, options: { [name]: value } }] as const,
    ),
    ...rowsOf(OF_SESSION).map(
      ([name, [how, value]]) => [`session.${name}`, how, { ...START, session: { [name]: value } }] as const,
    ),
  ])('with another %s is the %s', (_name, how, changed) => {
    const same = fingerprint(changed as Start, 'a') === fingerprint(START, 'a')
    expect(same ? 'same' : 'other').toBe(how)
  })

  test.each(Object.entries(PARTS).flatMap(([kind, pairs]) => pairs.map((pair, at) => [kind, at, pair] as const)))(
    'is another one with another part, in the prompt and in the history: %s %i',
    (_kind, _at, [one, other]) => {
      const inputs = [one, other].map((part) => fingerprint({ ...START, input: [part] }, 'a'))
      expect(inputs[0]).not.toBe(inputs[1])
      const histories = [one, other].map((part) =>
        fingerprint({ ...START, history: [{ role: 'user', parts: [part] }] }, 'a'),
      )
      expect(histories[0]).not.toBe(histories[1])
    },
  )

  test('is another one for another agent', () => {
    expect(fingerprint(START, 'a')).not.toBe(fingerprint(START, 'b'))
  })

  test('is the same whatever the order of members, white space in JSON, and members that are undefined', () => {
    const one: Start = {
      ...START,
      options: { model: 'm', effort: 'low' },
      ext: { protocol: 'p', json: '{"a":1,"b":[1,2],"attempt":1}' },
      environment: { privacy: 'public', json: '{"x":"\u00e9","y":{}}' },
    }
    const other = {
      environment: { json: ' { "y" : {}, "x":"\\u00e9" } ', privacy: 'public' },
      ext: { json: '{"attempt":2, "b":[1, 2], "a":1}', protocol: 'p' },
      ...START,
      history: undefined,
      options: { effort: 'low', model: 'm', locale: undefined },
    } as unknown as Start
    expect(fingerprint(other, 'a')).toBe(fingerprint(one, 'a'))
  })

  test('tells an absent member from an empty one, and the arguments of an invocation by their text', () => {
    const prints = [
      START,
      { ...START, history: [] },
      { ...START, options: { tools: [] } },
      { ...START, options: { systemPrompt: '' } },
      { ...START, invocation: { kind: 'slash', path: ['x'], args: '{"a":1}' } },
      { ...START, invocation: { kind: 'slash', path: ['x'], args: '{"a": 1}' } },
    ].map((start) => fingerprint(start as Start, 'a'))
    expect(new Set(prints).size).toBe(prints.length)
  })

  test('is never the same for two texts', () => {
    const start = fc.record({ text: fc.string(), model: fc.string(), system: fc.string() })
    fc.assert(
      fc.property(start, start, (one, other) => {
        const [first, second] = [one, other].map(({ text, model, system }) =>
          fingerprint({ ...START, input: [{ type: 'text', text }], options: { model, systemPrompt: system } }, 'a'),
        )
        expect(first === second).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
    )
  })
})

describe('what is compared', () => {
  const of = (more: Partial<Start>): string => fingerprint({ ...START, ...more }, 'agent')

  test.each<[what: string, one: Partial<Start>, other: Partial<Start>]>([
    [
      'the order of members',
      { input: [{ type: 'image', mime: 'm', url: 'u' }] },
      { input: [{ url: 'u', type: 'image', mime: 'm' }] },
    ],
    ['a member that is undefined', { options: { model: undefined } as never }, { options: {} }],
    ['white space of a schema', { options: { outputSchema: '{"a":1}' } }, { options: { outputSchema: '{ "a" : 1 }' } }],
    [
      'white space of the arguments of a call',
      {
        history: [{ role: 'assistant', parts: [{ type: 'tool-call', tool: 'c', name: 'ls', args: '{"a":1,"b":2}' }] }],
      },
      {
        history: [{ role: 'assistant', parts: [{ type: 'tool-call', tool: 'c', name: 'ls', args: '{"b":2, "a":1}' }] }],
      },
    ],
    [
      'members of the extension that its protocol calls incidental',
      { ext: { protocol: 'p', json: '{"a":1,"attempt":1}' } },
      { ext: { protocol: 'p', json: '{"attempt":2, "a":1}' } },
    ],
  ])('is not %s', (_what, one, other) => {
    expect(of(one)).toBe(of(other))
  })

  test.each<[what: string, one: Partial<Start>, other: Partial<Start>]>([
    ['the order of a list', { folders: ['/a', '/b'] }, { folders: ['/b', '/a'] }],
    [
      'white space of a text',
      { input: [{ type: 'text', text: '{"a":1}' }] },
      { input: [{ type: 'text', text: '{ "a":1}' }] },
    ],
    [
      'the protocol of an extension',
      { ext: { protocol: 'p', json: '{"a":1}' } },
      { ext: { protocol: 'q', json: '{"a":1}' } },
    ],
    [
      'white space of the arguments of a command',
      { invocation: { kind: 'slash', path: ['x'], args: '{"a":1}' } },
      { invocation: { kind: 'slash', path: ['x'], args: '{ "a":1}' } },
    ],
    [
      'the kind of a command',
      { invocation: { kind: 'slash', path: ['x'], args: '' } },
      { invocation: { kind: 'other', path: ['x'], args: '' } as never },
    ],
    ['a member that is null', { options: { model: null } as never }, { options: {} }],
    ['a number written as a text', { options: { maxTokens: 9 } }, { options: { maxTokens: '9' } as never }],
    [
      'a member of one part for one of another',
      { input: [{ type: 'text', text: 'a' }] },
      { input: [{ type: 'text', text: 'b' }] },
    ],
  ])('is %s', (_what, one, other) => {
    expect(of(one)).not.toBe(of(other))
  })

  test('is the agent that it is given to', () => {
    expect(fingerprint(START, 'a')).not.toBe(fingerprint(START, 'b'))
  })

  test('law: no order of members makes another request, at any depth', () => {
    const shuffled = (value: unknown, random: (below: number) => number): unknown => {
      if (Array.isArray(value)) return value.map((one) => shuffled(one, random))
      if (typeof value !== 'object' || value === null) return value
      const entries = Object.entries(value)
      const mixed: typeof entries = []
      while (entries.length > 0) mixed.push(...entries.splice(random(entries.length), 1))
      return Object.fromEntries(mixed.map(([key, inner]) => [key, shuffled(inner, random)]))
    }
    const part = fc.record({ type: fc.constant('text'), text: fc.string(), lane: fc.string(), more: fc.jsonValue() })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), fc.infiniteStream(fc.nat()), (input, numbers) => {
        const random = (below: number): number => numbers.next().value! % below
        const one = { ...START, input } as unknown as Start
        expect(fingerprint(shuffled(one, random) as Start, 'agent')).toBe(fingerprint(one, 'agent'))
      }),
    )
  })
})
