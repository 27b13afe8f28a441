import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Capabilities, capabilities } from '../../src/contract/index.ts'
import { carryEvent } from '../../src/engine/carry/carry-event.ts'
import { viewOf } from '../../src/engine/events/view.ts'
import { fault, ITEMS, type Item, type Loss, type Part, type TurnEvent } from '../../src/model/index.ts'

const half = (...full: Item[]): Capabilities => capabilities({ full })
const ALL = half(...ITEMS)
const NONE = half()

/** What a front with these capabilities is shown of the last event, and what it loses. */
function carried(front: Capabilities, events: readonly TurnEvent[], whole = false) {
  const losses: Loss[] = []
  const view = viewOf({ turn: 't', session: 's', agent: 'a', startedAt: 0 }, events)
  const event = carryEvent(front, events.at(-1)!, whole, view, (loss) => losses.push(loss))
  return { event, losses }
}

const dropped = (item: Item, more: Partial<Loss> = {}): Loss => ({
  kind: 'dropped',
  item,
  why: 'no-place',
  count: 1,
  ...more,
})
const ext = { protocol: 'zot', json: '{}' }
const of = <T extends TurnEvent['type']>(type: T, more: object): TurnEvent =>
  ({ type, turn: 't', ...more }) as TurnEvent
const text = of('text-delta', { message: 'm', text: 'x' })
const open = of('message-start', { message: 'm', role: 'assistant' })
const usage = of('usage', { scope: 'turn', usage: { input: 1, output: 2 }, estimated: true })

/** An event of every kind that a front may have no place for. */
const EVENTS: readonly TurnEvent[] = [
  text,
  of('reasoning-delta', { message: 'm', text: 'x', ext }),
  open,
  of('message-end', { message: 'm', parts: [{ type: 'text', text: 'x' }] }),
  of('tool-start', { tool: 'x', name: 'read', title: 'T', kind: 'read' }),
  of('tool-call', { tool: 'x', name: 'read', args: '{}', executor: 'client' }),
  of('tool-end', { tool: 'x', status: 'ok', parts: [{ type: 'text', text: 'x' }] }),
  of('tool-progress', { tool: 'x', parts: [{ type: 'text', text: 'x' }] }),
  of('plan', { json: '[]' }),
  of('directive', { action: 'a', json: '{}' }),
  of('notice', { severity: 'info', code: 'c', text: 'n' }),
  of('ask', { ask: 'q', question: { kind: 'client', method: 'm', params: '{}' } }),
  of('foreign', { frame: 'x' }),
  of('step-start', { step: 1 }),
  of('terminal-output', { text: 'x' }),
  usage,
  of('turn-end', { outcome: 'failed', stop: 'limit', fault: { ...fault('overloaded', 'x'), ext }, ext }),
]

test.each(EVENTS)('$type reaches a front that has a place for all of it, as it is and without a loss', (event) => {
  const { event: shown, losses } = carried(ALL, [event])
  // The event itself, not a copy of it.
  expect(shown).toBe(event)
  expect(losses).toEqual([])
})

test.each(EVENTS)('law: a front with any capabilities loses nothing of $type silently', (event) => {
  fc.assert(
    fc.property(fc.subarray([...ITEMS]), fc.boolean(), (full, whole) => {
      const { event: shown, losses } = carried(half(...full), [event], whole)
      const inView = whole || event.type === 'text-delta'
      if (!inView && JSON.stringify(shown) !== JSON.stringify(event)) expect(losses.length).toBeGreaterThan(0)
      for (const { item } of losses) {
        const shownInView =
          whole &&
          ['foreign', 'plan', 'terminal-output', 'step-start', 'tool-progress', 'usage.session', 'ext'].includes(item)
        if (!shownInView) expect(full).not.toContain(item)
      }
    }),
    { numRuns: 30 },
  )
})

describe('a front without a place for an event', () => {
  test('loses it by its name', () => {
    expect(carried(NONE, [of('plan', { json: '[]' })])).toEqual({ event: undefined, losses: [dropped('plan')] })
  })

  test('loses the members of its protocol with it, without a further loss', () => {
    const note = of('notice', { severity: 'info', code: 'c', text: 'n', ext })
    for (const whole of [false, true]) expect(carried(NONE, [note], whole).losses).toEqual([dropped('notice')])
    const thought = of('reasoning-delta', { message: 'm', text: 'x', ext })
    expect(carried(half('text-delta'), [open, thought]).losses).toEqual([dropped('reasoning-delta')])
    expect(carried(half('reasoning-delta'), [open, thought])).toEqual({
      event: of('reasoning-delta', { message: 'm', text: 'x' }),
      losses: [dropped('ext', { field: 'zot' })],
    })
  })

  test('loses the members that are counted by themselves, too', () => {
    const start = of('tool-start', { tool: 'x', name: 'read', title: 'T', kind: 'read', executor: 'agent' })
    const losses = carried(NONE, [start]).losses.map(({ item }) => item)
    expect(losses).toEqual(['tool-start', 'tool.kind', 'tool.title'])
  })

  test('is told every text in its view, and that an answer is empty', () => {
    expect(carried(NONE, [open, text])).toEqual({ event: undefined, losses: [] })
    const empty = of('notice', { severity: 'info', code: 'empty-answer', text: 'n' })
    expect(carried(NONE, [empty])).toEqual({ event: undefined, losses: [] })
  })

  test('loses a question, or its kind where it can ask others', () => {
    const ask = of('ask', { ask: 'q', question: { kind: 'client', method: 'm', params: '{}' } })
    expect(carried(NONE, [ask]).losses).toEqual([dropped('ask')])
    expect(carried(half('ask'), [ask]).losses).toEqual([dropped('ask.client')])
    expect(carried(half('ask', 'ask.client'), [ask])).toEqual({ event: ask, losses: [] })
  })
})

describe('parts', () => {
  const reply = (parts: readonly Part[]): Part => ({ type: 'tool-reply', tool: 'x', parts }) as Part
  const image = { type: 'image', media: 'image/png', data: '' } as unknown as Part
  const said = { type: 'text', text: 'x' } as const

  test('without a place are taken out, also of the reply of a tool', () => {
    const front = half('part.text', 'part.tool-reply', 'tool-end')
    const end = (parts: readonly Part[]) => of('tool-end', { tool: 'x', status: 'ok', parts })
    expect(carried(front, [end([said, image, reply([image, said])])])).toEqual({
      event: end([said, reply([said])]),
      losses: [dropped('part.image'), dropped('part.image')],
    })
  })

  test('that events of their own have said are no loss', () => {
    const thought = of('reasoning-delta', { message: 'm', text: 'hm' })
    const call = of('tool-call', { tool: 'x', name: 'read', args: '{}', executor: 'agent' })
    const end = of('message-end', {
      message: 'm',
      parts: [{ type: 'reasoning', text: 'hm' }, { type: 'tool-call', tool: 'x', name: 'read', args: '{}' }, said],
    })
    const front = half('part.text')
    expect(carried(front, [open, thought, call, end])).toEqual({
      event: of('message-end', { message: 'm', parts: [said] }),
      losses: [],
    })
    expect(carried(front, [open, end]).losses).toEqual([dropped('part.reasoning'), dropped('part.tool-call')])
  })

  test('of the prompt are known to the client', () => {
    const prompt = of('message-start', { message: 'm', role: 'user' })
    expect(carried(half('part.text'), [prompt, of('message-end', { message: 'm', parts: [image] })]).losses).toEqual([])
  })
})

describe('usage', () => {
  test('keeps the counts that have a place', () => {
    expect(carried(half('usage', 'usage.input', 'usage.estimated'), [usage])).toEqual({
      event: of('usage', { scope: 'turn', usage: { input: 1 }, estimated: true }),
      losses: [dropped('usage.output')],
    })
    expect(carried(half('usage', 'usage.input', 'usage.output'), [usage])).toEqual({
      event: of('usage', { scope: 'turn', usage: { input: 1, output: 2 } }),
      losses: [dropped('usage.estimated')],
    })
  })

  test('is not shown where no count has one, nor of a session to a front that counts turns', () => {
    expect(carried(half('usage', 'usage.estimated'), [usage]).event).toBeUndefined()
    const session = of('usage', { scope: 'session', usage: { input: 1 } })
    expect(carried(half('usage', 'usage.input'), [session])).toEqual({
      event: undefined,
      losses: [dropped('usage.session')],
    })
  })
})

describe('an answer in one piece', () => {
  test('is encoded of the events about the turn alone; what the view does not keep is lost', () => {
    expect(carried(ALL, [open, text], true)).toEqual({ event: undefined, losses: [] })
    expect(carried(ALL, [of('plan', { json: '[]' })], true).losses).toEqual([dropped('plan')])
    expect(carried(ALL, [of('notice', { severity: 'info', code: 'c', text: 'n', ext })], true).losses).toEqual([
      dropped('ext', { field: 'zot' }),
    ])
    expect(carried(ALL, [of('usage', { scope: 'session', usage: { input: 1 } })], true).losses).toEqual([
      dropped('usage.session'),
    ])
  })

  test('loses what was said beside it, unless each message shows its phase', () => {
    const end = of('turn-end', { outcome: 'completed' })
    const aside = [of('message-start', { message: 'm', role: 'assistant', lane: 'sub' }), text, end]
    expect(carried(NONE, aside, true)).toEqual({ event: end, losses: [dropped('text-delta', { field: 'aside' })] })
    expect(carried(half('message.phase'), aside, true)).toEqual({ event: end, losses: [] })
    const parked = of('turn-parked', { continuation: 'c', asks: [], deadline: 1 })
    const [first] = aside
    const front = half('turn-parked', 'ext')
    expect(carried(front, [first!, text, parked], true).losses).toEqual([dropped('text-delta', { field: 'aside' })])
    expect(carried(front, [first!, text, of('turn-started', {})], true).losses).toEqual([])
    expect(carried(front, [first!, text, parked]).losses).toEqual([])
  })
})

test('members of a protocol are taken from an event and from its fault, each a loss', () => {
  const end = of('turn-end', { outcome: 'failed', fault: { ...fault('internal', 'x'), ext }, ext })
  expect(carried(NONE, [end])).toEqual({
    event: of('turn-end', { outcome: 'failed', fault: fault('internal', 'x') }),
    losses: [dropped('ext', { field: 'zot' }), dropped('ext', { field: 'zot' })],
  })
})

test('the end of reasoning is no loss: the end of its message repeats the seal', () => {
  const end = of('reasoning-end', { message: 'm', seal: { provider: 'p', data: 'd' } })
  expect(carried(NONE, [open, end])).toEqual({ event: undefined, losses: [] })
  expect(carried(half('reasoning-end'), [open, end])).toEqual({ event: end, losses: [] })
  expect(carried(ALL, [open, end])).toEqual({ event: end, losses: [] })
})

test('a part loses the fields of a protocol where they have no place, also within the reply of a tool', () => {
  const part = { type: 'text', text: 'x', ext } as const
  const reply = { type: 'tool-reply', tool: 'x', status: 'ok', parts: [part] } as const
  const end = of('message-end', { message: 'm', parts: [part, reply] })
  const lost = dropped('part.ext', { field: 'zot' })
  expect(carried(half('part.text', 'part.tool-reply'), [open, end])).toEqual({
    event: of('message-end', {
      message: 'm',
      parts: [
        { type: 'text', text: 'x' },
        { ...reply, parts: [{ type: 'text', text: 'x' }] },
      ],
    }),
    losses: [lost, lost],
  })
})
