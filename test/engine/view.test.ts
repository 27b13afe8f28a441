import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LiveView, viewOf } from '../../src/engine/events/view.ts'
import type { TurnEvent } from '../../src/model/index.ts'

const of = { turn: 't', session: 's', agent: 'a', startedAt: 5 }

const fresh = (): LiveView => new LiveView({ turn: 't', session: 's', agent: 'a', at: 5 })

const message = (id: string, more: Partial<Extract<TurnEvent, { type: 'message-start' }>> = {}): TurnEvent => ({
  type: 'message-start',
  turn: 't',
  message: id,
  role: 'assistant',
  ...more,
})
const text = (id: string, said: string): TurnEvent => ({ type: 'text-delta', turn: 't', message: id, text: said })
const thought = (id: string, said: string): TurnEvent => ({
  type: 'reasoning-delta',
  turn: 't',
  message: id,
  text: said,
})
const end = (id: string, parts?: Extract<TurnEvent, { type: 'message-end' }>['parts']): TurnEvent => ({
  type: 'message-end',
  turn: 't',
  message: id,
  ...(parts && { parts }),
})
const ask = {
  type: 'ask',
  turn: 't',
  ask: 'q',
  question: { kind: 'client', method: 'm', params: '{}' },
} as const satisfies TurnEvent

describe('the text of a turn', () => {
  test('is what its answers say, in order, with a blank line between two', () => {
    const view = viewOf(of, [
      message('u', { role: 'user' }),
      text('u', 'asked'),
      message('1'),
      text('1', 'on'),
      text('1', 'e'),
      end('1'),
      message('2'),
      end('2', [{ type: 'text', text: 'two' }]),
      message('3'),
    ])
    expect(view.text).toBe('one\n\ntwo')
    expect(view.asides).toBe(0)
  })

  test('leaves out sub-agents and commentary, which are counted as asides', () => {
    const view = viewOf(of, [
      message('1', { phase: 'commentary' }),
      text('1', 'let me see'),
      message('2', { lane: 'sub' }),
      text('2', 'from below'),
      message('3'),
      text('3', 'done'),
    ])
    expect(view.text).toBe('done')
    expect(view.asides).toBe(2)
  })

  test('is the commentary where nothing else was said', () => {
    const view = viewOf(of, [message('1', { phase: 'commentary' }), text('1', 'only this')])
    expect(view.text).toBe('only this')
    expect(view.asides).toBe(0)
  })

  test('is what the end of a message says where that differs from its pieces', () => {
    expect(viewOf(of, [message('1'), text('1', 'draft'), end('1', [{ type: 'text', text: 'final' }])]).text).toBe(
      'final',
    )
  })

  test('loses what is retracted, unless the text stays', () => {
    const retract = (keepText: boolean): TurnEvent =>
      ({ type: 'message-retract', turn: 't', message: '1', ...(keepText && { keepText }) }) as TurnEvent
    expect(viewOf(of, [message('1'), text('1', 'x'), retract(false)]).text).toBe('')
    expect(viewOf(of, [message('1'), text('1', 'x'), retract(true)]).text).toBe('x')
  })

  test('law: pieces of any cut add up to the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (pieces) => {
        const view = viewOf(of, [message('1'), ...pieces.map((piece) => text('1', piece)), end('1')])
        expect(view.text).toBe(pieces.join(''))
        expect(view.message('1')?.streamed).toBe(pieces.length > 0)
        expect(view.seq).toBe(pieces.length + 2)
      }),
    )
  })
})

describe('a message', () => {
  test('has its reasoning from its pieces, or from its end', () => {
    const streamed = viewOf(of, [message('1'), thought('1', 'hm'), end('1', [{ type: 'text', text: 'x' }])])
    expect(streamed.message('1')).toMatchObject({ reasoning: 'hm', thought: true, closed: true })
    const whole = viewOf(of, [message('1'), end('1', [{ type: 'reasoning', text: 'hm' }])])
    expect(whole.message('1')).toMatchObject({ reasoning: 'hm', thought: false, text: '' })
  })

  test('that was never opened is nowhere', () => {
    const view = viewOf(of, [text('no', 'x'), thought('no', 'x'), end('no', [])])
    expect(view.messages).toEqual([])
    expect(view.message('no')).toBeUndefined()
  })
})

describe('a tool', () => {
  const start: TurnEvent = {
    type: 'tool-start',
    turn: 't',
    tool: 'x',
    name: 'read',
    kind: 'read',
    title: 'T',
  } as TurnEvent
  const piece = (said: string): TurnEvent => ({ type: 'tool-args-delta', turn: 't', tool: 'x', text: said })
  const call = (args: string): TurnEvent => ({
    type: 'tool-call',
    turn: 't',
    tool: 'x',
    name: 'read',
    args,
    executor: 'agent',
  })
  const over: TurnEvent = { type: 'tool-end', turn: 't', tool: 'x', status: 'ok', parts: [] } as TurnEvent

  test('collects its arguments until the call says them whole', () => {
    const view = viewOf(of, [start, piece('{"a"'), piece(':1}')])
    expect(view.tool('x')).toMatchObject({
      name: 'read',
      title: 'T',
      args: '{"a":1}',
      called: false,
      status: undefined,
    })
    view.apply(call('{"a":2}'), 9)
    view.apply(over, 9)
    expect(view.tools).toHaveLength(1)
    expect(view.tool('x')).toMatchObject({ args: '{"a":2}', called: true, status: 'ok' })
  })

  test('whose call has ended is another one when its id comes again', () => {
    const view = viewOf(of, [call('1'), over, call('2')])
    expect(view.tools.map(({ args, status }) => [args, status])).toEqual([
      ['1', 'ok'],
      ['2', undefined],
    ])
  })

  test('that is not known takes no arguments and no end', () => {
    expect(viewOf(of, [piece('x'), over]).tools).toEqual([])
  })
})

test('a view keeps notices, directives, questions, usage of the turn and its end', () => {
  const view = fresh()
  const events: TurnEvent[] = [
    { type: 'notice', turn: 't', severity: 'warning', code: 'c', text: 'n', lane: 'l' } as TurnEvent,
    { type: 'directive', turn: 't', action: 'go', json: '{}' } as TurnEvent,
    ask,
    { type: 'usage', turn: 't', scope: 'session', usage: { input: 9 } } as TurnEvent,
    { type: 'usage', turn: 't', scope: 'turn', usage: { input: 1 }, estimated: true } as TurnEvent,
  ]
  for (const event of events) view.apply(event, 7)
  expect(view.notices).toEqual([{ severity: 'warning', code: 'c', text: 'n', lane: 'l' }])
  expect(view.directives).toEqual([{ action: 'go', json: '{}' }])
  expect(view.asks).toEqual([ask])
  expect([view.usage, view.usageEstimated, view.at, view.startedAt, view.seq]).toEqual([{ input: 1 }, true, 7, 5, 5])
  view.apply({ type: 'ask-settled', turn: 't', ask: 'q' } as TurnEvent, 8)
  expect(view.asks).toEqual([])
  view.apply({ type: 'turn-end', turn: 't', outcome: 'completed' }, 8, 40)
  expect([view.end?.outcome, view.seq]).toEqual(['completed', 40])
})

describe('a view that continues another', () => {
  const earlier = (): LiveView =>
    viewOf(of, [
      message('1'),
      text('1', 'shown'),
      end('1'),
      message('2'),
      text('2', 'half'),
      { type: 'tool-call', turn: 't', tool: 'x', name: 'read', args: '{}', executor: 'agent' },
      ask,
    ])

  test('has what is open there, without what was said of it, and goes on counting', () => {
    const view = fresh()
    view.continue(earlier())
    expect(view.messages.map(({ id, text: said }) => [id, said])).toEqual([['2', '']])
    expect(view.tools.map(({ id }) => id)).toEqual(['x'])
    expect(view.asks).toEqual([ask])
    view.apply(text('2', ' more'), 6)
    expect([view.text, view.seq]).toEqual([' more', 8])
  })

  test.each([
    ['half and more', ' and more'],
    ['another', 'another'],
  ])('has of a whole message %j what was not shown yet', (whole, rest) => {
    const view = fresh()
    view.continue(earlier())
    view.apply(end('2', [{ type: 'text', text: whole }]), 6)
    expect(view.text).toBe(rest)
  })

  test('does not change the one that it continues', () => {
    const old = earlier()
    const view = fresh()
    view.continue(old)
    view.apply(text('2', 'x'), 6)
    view.apply({ type: 'tool-end', turn: 't', tool: 'x', status: 'ok', parts: [] } as TurnEvent, 6)
    expect(old.text).toBe('shown\n\nhalf')
    expect(old.tool('x')?.status).toBeUndefined()
  })

  const call = (tool: string, lane?: string): TurnEvent => ({
    type: 'tool-call',
    turn: 't',
    tool,
    name: 'read',
    args: `{"of":"${tool}"}`,
    executor: 'agent',
    ...(lane !== undefined && { lane }),
  })
  const over = (tool: string): TurnEvent => ({ type: 'tool-end', turn: 't', tool, status: 'ok', parts: [] })

  test('has no call that has ended there, and knows those that go on by their ids', () => {
    const view = fresh()
    view.continue(viewOf(of, [call('x'), call('y'), over('x')]))
    expect(view.tools.map(({ id }) => id)).toEqual(['y'])
    expect([view.tool('x'), view.tool('y')]).toEqual([undefined, view.tools[0]])
    view.apply(over('y'), 6)
    view.apply(over('x'), 6)
    expect(view.tools.map(({ id, status }) => [id, status])).toEqual([['y', 'ok']])
  })

  test('law: it and the one before it have together what the whole has, wherever the cut is', () => {
    const id = fc.constantFrom('1', '2', '3')
    const happens: fc.Arbitrary<TurnEvent> = fc.oneof(
      id.map((one) => message(one)),
      fc.tuple(id, fc.string()).map(([one, said]) => text(one, said)),
      fc.tuple(id, fc.string()).map(([one, said]) => thought(one, said)),
      id.map((one) => end(one)),
      id.map((one) => call(`x${one}`)),
      id.map((one) => over(`x${one}`)),
      id.map((one): TurnEvent => ({ ...ask, ask: one })),
      id.map((one): TurnEvent => ({ type: 'ask-settled', turn: 't', ask: one, how: 'answered' })),
    )
    // No id is used again: the laws of a turn see to that.
    const once = (events: readonly TurnEvent[]): TurnEvent[] => {
      const begun = new Set<string>()
      return events.filter((event) => {
        const key = 'message' in event ? `m${event.message}` : 'tool' in event ? `t${event.tool}` : undefined
        const begins = event.type === 'message-start' || event.type === 'tool-call'
        if (key === undefined || !begins) return true
        return !begun.has(key) && begun.add(key)
      })
    }
    fc.assert(
      fc.property(fc.array(happens, { maxLength: 40 }), fc.nat(40), (list, at) => {
        const events = once(list)
        const [whole, before, rest] = [viewOf(of, events), viewOf(of, events.slice(0, at)), fresh()]
        rest.continue(before)
        for (const event of events.slice(at)) rest.apply(event, 5)
        expect([rest.seq, rest.asks]).toEqual([whole.seq, whole.asks])
        for (const one of whole.messages) {
          const [first, second] = [before.message(one.id), rest.message(one.id)]
          expect(first !== undefined || second !== undefined).toBe(true)
          // What comes after the end of a message is lost on a view that did not see it.
          if (first?.closed) expect(second).toBeUndefined()
          else {
            expect((first?.text ?? '') + (second?.text ?? '')).toBe(one.text)
            expect((first?.reasoning ?? '') + (second?.reasoning ?? '')).toBe(one.reasoning)
            expect(second?.closed).toBe(one.closed)
          }
        }
        for (const tool of whole.tools) {
          const [first, second] = [before.tool(tool.id), rest.tool(tool.id)]
          expect(first?.status === undefined).toBe(second !== undefined)
          expect({ ...(second ?? first), after: 0 }).toEqual({ ...tool, after: 0 })
        }
      }),
    )
  })
})

test('a view knows whose turn it is, and since when', () => {
  const view = fresh()
  expect([view.turn, view.session, view.agent, view.startedAt, view.at]).toEqual(['t', 's', 'a', 5, 5])
  view.apply(message('1'), 9)
  expect([view.startedAt, view.at]).toEqual([5, 9])
})

test('each event changes what it is about, and nothing else', () => {
  const view = fresh()
  const rest = () => [view.directives, view.notices, view.asks, view.usage, view.answerUsage, view.end]
  const nothing = [[], [], [], undefined, undefined, undefined]
  view.apply(message('1', { phase: 'refusal' }), 5)
  const first = { id: '1', role: 'assistant', streamed: false, closed: false, refuses: true, text: '', reasoning: '' }
  expect(view.message('1')).toMatchObject({ ...first, parts: undefined, commentary: false })
  view.apply(text('1', 'x'), 5)
  expect(view.message('1')).toMatchObject({ ...first, streamed: true, text: 'x' })
  view.apply(thought('1', 'y'), 5)
  expect(view.message('1')).toMatchObject({ ...first, streamed: true, text: 'x', reasoning: 'y' })
  view.apply({ type: 'message-retract', turn: 't', message: '1', keepText: false }, 5)
  expect(view.message('1')).toMatchObject({ ...first, streamed: true, text: '', reasoning: 'y' })
  const parts = [{ type: 'text', text: 'z' }] as const
  view.apply(end('1', parts), 5)
  expect(view.message('1')).toMatchObject({ closed: true, text: 'z', parts })
  view.apply(message('2'), 5)
  expect(view.message('2')).toMatchObject({ refuses: false, closed: false })
  const tool = { turn: 't', tool: 'x' } as const
  view.apply({ ...tool, type: 'tool-start', name: 'read', kind: 'search', executor: 'agent', lane: 'l' }, 5)
  view.apply({ ...tool, type: 'tool-args-delta', text: '{' }, 5)
  expect(view.tool('x')).toEqual({
    id: 'x',
    name: 'read',
    kind: 'search',
    title: undefined,
    lane: 'l',
    executor: 'agent',
    after: 2,
    args: '{',
    called: false,
    status: undefined,
    parts: [],
  })
  view.apply({ ...tool, type: 'tool-end', status: 'denied', parts }, 5)
  expect(view.tool('x')).toMatchObject({ args: '{', status: 'denied', parts })
  expect(rest()).toEqual(nothing)
  view.apply({ type: 'directive', turn: 't', action: 'go', json: '{}' }, 5)
  view.apply(ask, 5)
  expect([view.directives.length, ...rest().slice(1)]).toEqual([1, [], [ask], undefined, undefined, undefined])
  view.apply({ type: 'usage', turn: 't', scope: 'session', usage: { input: 9 } }, 5)
  expect([view.usage, view.answerUsage, view.messages.length, view.tools.length]).toEqual([undefined, undefined, 2, 1])
})
