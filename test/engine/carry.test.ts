import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { carryStart, isServedHere, startItems, steeringLosses, without } from '../../src/engine/carry/carry.ts'
import { reportFields } from '../../src/engine/carry/request-parts.ts'
import { type Command, ITEMS, type Item, type Loss, type Part, type TurnStart } from '../../src/model/index.ts'

const environment = { privacy: 'public', json: '{"screen":"opened"}' } as const

type Start = Command & TurnStart

function start(more: Partial<Start>): Command & TurnStart {
  return { exchange: 'x', type: 'turn-start', turn: 't', task: 'prompt', input: [], options: {}, ...more }
}

/** What an agent is told, and what is lost on the way. */
function carried(command: Command & TurnStart, places: readonly ('start.environment' | 'start.invocation')[] = []) {
  const losses: Loss[] = []
  const told = carryStart(capabilities({ full: ['part.text', ...places] }), command, (loss) => losses.push(loss))
  return { input: told.input, environment: told.environment, losses }
}

test.each([
  ['nothing', []],
  ['a blank text', [{ type: 'text', text: ' \n' }]],
] as const)(
  'surroundings are the prompt of an agent without a place for them where the client says %s',
  (_what, input) => {
    expect(carried(start({ input, environment }))).toEqual({
      input: [{ type: 'text', text: '{"screen":"opened"}' }],
      environment: undefined,
      losses: [{ kind: 'weakened', item: 'start.environment', why: 'no-place', count: 1 }],
    })
  },
)

test('an agent with a place for surroundings has no prompt made up', () => {
  expect(carried(start({ environment }), ['start.environment'])).toEqual({ input: [], environment, losses: [] })
})

test('surroundings beside a prompt are not told in it', () => {
  const input = [{ type: 'text', text: 'hi' }] as const
  expect(carried(start({ input, environment }))).toEqual({
    input,
    environment: undefined,
    losses: [{ kind: 'dropped', item: 'start.environment', why: 'no-place', count: 1 }],
  })
})

test('a part of a prompt loses the fields of a protocol where they have no place', () => {
  const part = { type: 'text', text: 'hi', ext: { protocol: 'zot', json: '{}' } } as const
  expect(carried(start({ input: [part] }))).toMatchObject({
    input: [{ type: 'text', text: 'hi' }],
    losses: [{ kind: 'dropped', item: 'part.ext', field: 'zot', why: 'no-place', count: 1 }],
  })
})

const ext = { protocol: 'zot', json: '{}' } as const

/** The members of a request, each with the item that it is lost with; `undefined`: it is never lost. */
const MEMBERS: readonly (readonly [Item | undefined, Partial<Start>])[] = [
  ['start.request', { request: 'r' }],
  ['start.agent', { agent: 'coder' }],
  ['start.user', { user: 'ada' }],
  ['start.once', { once: { key: 'k', duplicate: 'join', replay: 'never' } }],
  ['start.invocation', { invocation: { kind: 'slash', path: ['plan'], args: '' } }],
  ['start.history', { history: [{ role: 'user', parts: [] }] }],
  ['start.askedCapabilities', { askedCapabilities: ['a'] }],
  ['start.environment', { environment }],
  ['start.cwd', { cwd: '/work' }],
  ['start.folders', { folders: ['/docs'] }],
  ['ext', { ext }],
  [undefined, { retry: true }],
]
const OPTIONS: readonly (readonly [Item, TurnStart['options']])[] = [
  ['option.model', { model: 'm' }],
  ['option.effort', { effort: 'high' }],
  ['option.systemPrompt', { systemPrompt: 's' }],
  ['option.streaming', { streaming: true }],
  ['option.totalMs', { totalMs: 9 }],
]
const SESSION: readonly (readonly [Item | undefined, NonNullable<Start['session']>])[] = [
  ['session.id', { id: 's' }],
  ['session.conversation', { conversation: 'c' }],
  ['session.name', { name: 'n' }],
  ['session.continuation', { continuation: 'k' }],
  [undefined, { bound: 'b' }],
]
const PARTS: readonly (readonly [Item, Part])[] = [
  ['part.text', { type: 'text', text: 'hi' }],
  ['part.text', { type: 'text', text: 'ho' }],
  ['part.image', { type: 'image', url: 'u' }],
  ['part.data', { type: 'data', json: '{}' }],
]

const some = <T>(list: readonly T[]): fc.Arbitrary<T[]> => fc.subarray([...list])

test('law: of a request what has a place is carried as it is, and what has none is lost by its name', () => {
  const request = fc.record({
    members: some(MEMBERS),
    options: some(OPTIONS),
    session: fc.option(some(SESSION), { nil: undefined }),
    parts: some(PARTS),
  })
  fc.assert(
    fc.property(request, fc.subarray([...ITEMS]), ({ members, options, session, parts }, full) => {
      const able = new Set<Item | undefined>([...full, undefined])
      const made = (has: (item: Item | undefined) => boolean): Command & TurnStart => ({
        ...start({ input: parts.flatMap(([item, part]) => (has(item) ? [part] : [])) }),
        ...Object.assign({}, ...members.flatMap(([item, member]) => (has(item) ? [member] : []))),
        options: Object.assign({}, ...options.flatMap(([item, member]) => (has(item) ? [member] : []))),
        ...(session && {
          session: Object.assign({}, ...session.flatMap(([item, member]) => (has(item) ? [member] : []))),
        }),
      })
      const whole = made(() => true)
      const before = structuredClone(whole)
      const held = [...members, ...options, ...(session ?? []), ...parts].flatMap(([item]) => (item ? [item] : []))
      const counted = startItems(whole).flatMap(({ item, count }) => Array<Item>(count).fill(item))
      expect(counted.sort()).toEqual([...held].sort())

      const losses: Loss[] = []
      const told = carryStart(capabilities({ full }), whole, (loss) => losses.push(loss))
      expect(whole).toEqual(before)
      const lost = held.filter((item) => !able.has(item) && !isServedHere(item))
      expect(losses.map(({ item }) => item).sort()).toEqual(lost.sort())
      const expected = made((item) => able.has(item))
      const blank = parts.length === 0 && whole.environment !== undefined && whole.invocation === undefined
      if (blank && !able.has('start.environment')) expected.input = [{ type: 'text', text: environment.json }]
      expect(told).toEqual(expected)
    }),
  )
})

const SAID: Part = { type: 'text', text: 'a', ext }
const CITED: Part = { type: 'text', text: 'a', citations: [{ url: 'u', ext }, { title: 't' }] }
const result = (...parts: Part[]): Part => ({ type: 'tool-reply', tool: 'c', status: 'ok', parts })
const PLACES: readonly (readonly [place: string, part: Part, items: readonly Item[]])[] = [
  ['a part', SAID, ['part.ext']],
  ['the result of a tool', result({ type: 'text', text: 'a' }, SAID), ['part.ext']],
  ['a result within a result', result(result(SAID), SAID), ['part.ext', 'part.ext']],
  ['a call', { type: 'tool-call', tool: 'c', name: 'ls', args: '{}', ext }, ['part.ext']],
  ['a source, which is lost', CITED, ['citation', 'citation']],
]

describe.each(PLACES)('the fields of a protocol of %s', (_place, part, items) => {
  const ITEMS_OF_REPLY: readonly Item[] = ['part.text', 'part.tool-call', 'part.tool-reply', 'start.history']
  const fieldOf = (item: Item) => (item === 'part.ext' ? { field: 'zot' } : {})
  const lost = items.map((item) => ({ kind: 'dropped', item, ...fieldOf(item), why: 'no-place', count: 1 }))

  test.each([
    ['input', { input: [part] }],
    ['history', { history: [{ role: 'tool', parts: [part] }] }],
  ] as const)('in the %s are lost where they have no place', (_name, said) => {
    const losses: Loss[] = []
    carryStart(capabilities({ full: ITEMS_OF_REPLY }), start(said), (loss) => losses.push(loss))
    expect(losses).toEqual(lost)
    const able = capabilities({ full: [...ITEMS_OF_REPLY, 'citation', 'part.ext'] })
    expect(carryStart(able, start(said), (loss) => losses.push(loss))).toEqual(start(said))
    expect(losses).toHaveLength(items.length)
  })

  test('in a history that is lost are lost with it', () => {
    const losses: Loss[] = []
    const history = [{ role: 'user', parts: [part] }] as const
    carryStart(capabilities({ full: ['part.text'] }), start({ history }), (loss) => losses.push(loss))
    expect(losses.map(({ item }) => item)).toEqual(['start.history'])
  })

  test.each([
    ['further input', { type: 'turn-steer', target: 'running', input: [part] }],
    ['a result', { type: 'ask-reply', target: 'running', reply: { kind: 'tool', status: 'ok', parts: [part] } }],
  ] as const)('in %s of a running turn are lost where they have no place', (_name, said) => {
    const losses: Loss[] = []
    reportFields(capabilities({ full: [] }), { exchange: 'x', ...said }, (loss) => losses.push(loss))
    expect(losses).toEqual(lost)
    reportFields(capabilities({ full: ['citation', 'part.ext'] }), { exchange: 'x', ...said }, () => expect.fail())
  })
})

test('the fields of a result itself are lost where they have no place, and other commands have none', () => {
  const losses: Loss[] = []
  const report = (loss: Loss): void => void losses.push(loss)
  const reply = { kind: 'tool', status: 'ok', parts: [], ext } as const
  reportFields(capabilities({ full: [] }), { exchange: 'x', type: 'ask-reply', target: 'running', reply }, report)
  expect(losses.map(({ item, field }) => [item, field])).toEqual([['part.ext', 'zot']])
  const values = { kind: 'input', values: '{}' } as const
  reportFields(
    capabilities({ full: [] }),
    { exchange: 'x', type: 'ask-reply', target: 'running', reply: values },
    report,
  )
  reportFields(capabilities({ full: [] }), { exchange: 'x', type: 'turn-cancel', target: 'running' }, report)
  expect(losses).toHaveLength(1)
})

test('results within results as deep as a client likes are no danger', () => {
  let deep: Part = SAID
  for (let level = 0; level < 100_000; level += 1) deep = result(deep)
  const losses: Loss[] = []
  carryStart(capabilities({ full: ['part.tool-reply'] }), start({ input: [deep] }), (loss) => losses.push(loss))
  expect(losses).toHaveLength(1)
})

test('a compaction is a prompt for an agent that has none, and is lost', () => {
  const losses: Loss[] = []
  const compact = start({ task: 'compact', input: [{ type: 'text', text: 'x' }] })
  const report = (loss: Loss): void => void losses.push(loss)
  expect(carryStart(capabilities({ full: ['part.text'] }), compact, report).task).toBe('prompt')
  expect(losses.map(({ item }) => item)).toEqual(['start.compact'])
  expect(carryStart(capabilities({ full: ['part.text', 'start.compact'] }), compact, report).task).toBe('compact')
  expect(losses).toHaveLength(1)
})

test('a request whose input goes to a running turn loses the rest, but for what the gateway serves', () => {
  const steered = start({
    request: 'r',
    input: [CITED],
    cwd: '/work',
    ext,
    options: { model: 'm', totalMs: 9 },
    session: { id: 's', continuation: 'k' },
  })
  expect(steeringLosses(steered)).toEqual(
    ['start.cwd', 'ext', 'option.model', 'session.continuation'].map((item) => ({
      kind: 'dropped',
      item,
      count: 1,
      why: 'policy',
    })),
  )
})

test('an object without some of its members is the object itself where it has none of them', () => {
  const fields = { a: 1, b: undefined, c: 3 }
  expect(without(fields, () => false)).toEqual({ a: 1, c: 3 })
  expect(Object.keys(without(fields, (key) => key === 'a'))).toEqual(['c'])
  const plain = { a: 1, c: 3 }
  expect(without(plain, (key) => key === ('b' as string))).toBe(plain)
})
