import fc from 'fast-check'
import { from, Observable } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { closingsOf } from '../../src/engine/events/laws.ts'
import { type AgentEvent, fault, type TurnEnd, type TurnEvent } from '../../src/model/index.ts'
import { lawful } from './lawful.ts'

const LOST = fault('agent-crashed', 'gone')

function run(source: Observable<AgentEvent>, cancelled = false): TurnEvent[] {
  const seen: TurnEvent[] = []
  const context = { turn: 't', missingEnd: () => LOST, cancelled: () => cancelled }
  lawful(source, context).subscribe((event) => seen.push(event))
  return seen
}

const events = (list: AgentEvent[]): Observable<AgentEvent> => from(list)
const end = (outcome: TurnEnd['outcome']): TurnEnd => ({ type: 'turn-end', turn: 't', outcome })

describe('the laws of a turn', () => {
  test('a wire that stops without an end fails the turn, and what was open is closed', () => {
    expect(
      run(
        events([
          { type: 'step-start', turn: 't', step: 1 },
          { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
          { type: 'text-delta', turn: 't', message: 'm', text: 'half' },
          { type: 'tool-call', turn: 't', tool: 'x', name: 'read', args: '{}', executor: 'agent' },
        ]),
      ).slice(4),
    ).toEqual([
      { type: 'tool-end', turn: 't', tool: 'x', status: 'error', parts: [] },
      { type: 'message-end', turn: 't', message: 'm' },
      { type: 'step-end', turn: 't', step: 1, stop: 'error' },
      { type: 'turn-end', turn: 't', outcome: 'failed', stop: 'error', fault: LOST },
    ])
  })

  test('a failure after a cancel is a cancellation; a completion stays one', () => {
    const outcome = (list: TurnEvent[]) => list.map((event) => event.type === 'turn-end' && event.outcome)
    expect(outcome(run(events([end('failed')]), true))).toEqual(['cancelled'])
    expect(outcome(run(events([end('completed')]), true))).toEqual(['completed'])
    expect(outcome(run(events([]), true))).toEqual(['cancelled'])
  })

  test('what did not complete has a fault, also where its agent gave none; that of an agent stays', () => {
    const code = (list: TurnEvent[]) => list.map((event) => event.type === 'turn-end' && event.fault?.code)
    expect(code(run(events([end('cancelled')])))).toEqual(['cancelled'])
    expect(code(run(events([end('failed')])))).toEqual(['agent-crashed'])
    expect(code(run(events([{ ...end('failed'), fault: fault('overloaded', 'x') }])))).toEqual(['overloaded'])
    expect(code(run(events([end('completed')])))).toEqual([undefined])
  })

  test('steps are counted in each lane, and one that begins again has ended', () => {
    const step = (type: 'step-start' | 'step-end', number: number, lane?: string): TurnEvent => {
      const of = { turn: 't', step: number, ...(lane && { lane }) }
      return type === 'step-end' ? { type, stop: 'end', ...of } : { type, ...of }
    }
    const wire = [step('step-start', 1), step('step-start', 1, 'l'), step('step-end', 1, 'l'), step('step-start', 2)]
    expect(run(events([...wire, step('step-start', 2), step('step-end', 3), end('completed')]))).toEqual([
      ...wire,
      step('step-end', 2),
      step('step-start', 2),
      step('step-start', 3),
      step('step-end', 3),
      step('step-end', 2),
      step('step-end', 1),
      end('completed'),
    ])
  })

  test('text for a message that was never opened opens it', () => {
    expect(run(events([{ type: 'text-delta', turn: 't', message: 'm', text: 'a' }, end('completed')]))).toEqual([
      { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
      { type: 'text-delta', turn: 't', message: 'm', text: 'a' },
      { type: 'message-end', turn: 't', message: 'm' },
      { type: 'turn-end', turn: 't', outcome: 'completed' },
    ])
  })

  test('reasoning that ends in a message that was never opened opens it', () => {
    const seal = { provider: 'p', kind: 'redacted', data: 'd' } as const
    expect(run(events([{ type: 'reasoning-end', turn: 't', message: 'm', seal }, end('completed')]))).toEqual([
      { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
      { type: 'reasoning-end', turn: 't', message: 'm', seal },
      { type: 'message-end', turn: 't', message: 'm' },
      { type: 'turn-end', turn: 't', outcome: 'completed' },
    ])
  })

  test('only the last usage total arrives, right before the end', () => {
    const usage = (total: number): AgentEvent => ({ type: 'usage', turn: 't', scope: 'turn', usage: { total } })
    expect(run(events([usage(1), { type: 'turn-started', turn: 't' }, usage(2), end('completed')]))).toEqual([
      { type: 'turn-started', turn: 't' },
      usage(2),
      end('completed'),
    ])
  })

  const started = { type: 'turn-started', turn: 't' } as const
  const begin = (message: string, lane?: string): AgentEvent => ({
    type: 'message-start',
    turn: 't',
    message,
    role: 'user',
    ...(lane !== undefined && { lane }),
  })
  const says = (message: string, text: string, lane?: string): AgentEvent => ({
    type: 'text-delta',
    turn: 't',
    message,
    text,
    ...(lane !== undefined && { lane }),
  })
  const over = (message: string, lane?: string): AgentEvent => ({
    type: 'message-end',
    turn: 't',
    message,
    ...(lane !== undefined && { lane }),
  })
  const opened = (message: string, lane?: string): AgentEvent =>
    ({ ...begin(message, lane), role: 'assistant' }) as AgentEvent
  const calls = (tool: string): AgentEvent => ({
    type: 'tool-call',
    turn: 't',
    tool,
    name: 'read',
    args: '{}',
    executor: 'agent',
  })
  const tool = (tool: string, status: 'ok' | 'error' | 'cancelled' = 'ok'): AgentEvent => ({
    type: 'tool-end',
    turn: 't',
    tool,
    status,
    parts: [],
  })
  const parts = (message: string, tool: string) =>
    ({
      type: 'message-end',
      turn: 't',
      message,
      parts: [{ type: 'tool-call', tool, name: 'read', args: '{}' }],
    }) as const satisfies AgentEvent
  const callUsage: AgentEvent = { type: 'usage', turn: 't', scope: 'call', usage: { total: 1 } }

  test.each<[what: string, said: AgentEvent[], passed: AgentEvent[] | 'the same']>([
    ['a message that begins, speaks and ends', [begin('m'), says('m', 'a'), says('m', 'b'), over('m')], 'the same'],
    [
      'messages that take turns',
      [begin('m'), begin('n'), says('m', 'a'), says('n', 'b'), over('m'), over('n')],
      'the same',
    ],
    ['an end of a message that never began', [over('m')], [opened('m'), over('m')]],
    ['an end in a lane of one that never began there', [over('m', 'l')], [opened('m', 'l'), over('m', 'l')]],
    ['text in a lane', [says('m', 'a', 'l'), over('m', 'l')], [opened('m', 'l'), says('m', 'a', 'l'), over('m', 'l')]],
    [
      'text of one id in two lanes',
      [says('m', 'a'), says('m', 'b', 'l'), over('m'), over('m', 'l')],
      [opened('m'), says('m', 'a'), opened('m#2', 'l'), says('m#2', 'b', 'l'), over('m'), over('m#2', 'l')],
    ],
    [
      'a message that begins while it is open',
      [begin('m'), says('m', 'a'), begin('m'), says('m', 'b'), over('m')],
      [begin('m'), says('m', 'a'), over('m'), begin('m#2'), says('m#2', 'b'), over('m#2')],
    ],
    [
      'a message that speaks after its end',
      [begin('m'), says('m', 'a'), over('m'), says('m', 'b'), over('m')],
      [begin('m'), says('m', 'a'), over('m'), opened('m#2'), says('m#2', 'b'), over('m#2')],
    ],
    ['the usage of a call', [callUsage, started], 'the same'],
    ['a call with its end', [calls('x'), tool('x')], 'the same'],
    ['parts that repeat a call', [begin('m'), calls('x'), parts('m', 'x'), tool('x')], 'the same'],
    [
      'parts that repeat a call whose id was used before',
      [calls('x'), tool('x'), begin('m'), calls('x'), parts('m', 'x'), tool('x')],
      [calls('x'), tool('x'), begin('m'), calls('x#2'), parts('m', 'x#2'), tool('x#2')],
    ],
    ['an event of another turn, and one of none', [{ ...started, turn: 'u' }, { ...started, turn: null } as never], []],
  ])('passes on %s', (_what, said, passed) => {
    expect(run(events([...said, end('completed')]))).toEqual([
      ...(passed === 'the same' ? said : passed),
      end('completed'),
    ])
  })

  test('passes on an event as it is where nothing of it changes', () => {
    const said = [started, begin('m'), says('m', 'a'), over('m'), begin('n'), parts('n', 'x')]
    const seen = run(events(said))
    for (const [at, event] of said.entries()) expect(seen[at]).toBe(event)
  })

  test.each<[TurnEnd['outcome'], 'error' | 'cancelled' | undefined]>([
    ['completed', undefined],
    ['failed', 'error'],
    ['cancelled', 'cancelled'],
  ])('a call that is open when its turn is %s ends as %s', (outcome, status) => {
    const closed = run(events([calls('x'), calls('y'), tool('y'), end(outcome)])).slice(3, -1)
    expect(closed).toEqual(status ? [tool('x', status)] : [])
  })

  test('the source is left with the end of the turn, and no event passes after it', () => {
    const log: string[] = []
    const wire = new Observable<AgentEvent>((subscriber) => {
      subscriber.next(end('completed'))
      subscriber.next(started)
      return () => log.push('left')
    })
    lawful(wire, { turn: 't', missingEnd: () => LOST, cancelled: () => false }).subscribe({
      next: ({ type }) => log.push(type),
      complete: () => log.push('complete'),
    })
    expect(log).toEqual(['turn-end', 'complete', 'left'])
  })

  test('a source that ends without the end of the turn completes it', () => {
    const log: string[] = []
    lawful(from([]), { turn: 't', missingEnd: () => LOST, cancelled: () => false }).subscribe({
      next: ({ type }) => log.push(type),
      complete: () => log.push('complete'),
    })
    expect(log).toEqual(['turn-end', 'complete'])
  })

  test('a turn that was cut off is closed with what is open, and nothing that was said before', () => {
    const failed = { ...end('failed'), stop: 'error', fault: LOST }
    const total: AgentEvent = { type: 'usage', turn: 't', scope: 'turn', usage: { total: 2 } }
    const said = [started, begin('m'), says('m', 'a'), calls('x'), total] as TurnEvent[]
    expect(closingsOf('t', said, LOST)).toEqual([tool('x', 'error'), over('m'), failed])
    expect(closingsOf('t', [], LOST)).toEqual([failed])
    expect(closingsOf('t', [...said, tool('x'), over('m')] as TurnEvent[], LOST)).toEqual([failed])
  })

  test('exactly one end, last, and balanced groups, whatever the wire does', () => {
    const id = fc.constantFrom('a', 'b')
    const turn = fc.constantFrom('t', 'other')
    const step = fc.constantFrom(1, 2)
    const lane = { lane: fc.constantFrom('l', 'k') }
    const event: fc.Arbitrary<AgentEvent> = fc.oneof(
      fc.record({
        type: fc.constant('message-start' as const),
        turn,
        message: id,
        role: fc.constant('assistant' as const),
      }),
      fc.record({ type: fc.constant('text-delta' as const), turn, message: id, text: fc.string() }),
      fc.record({ type: fc.constant('message-end' as const), turn, message: id }),
      fc.record({
        type: fc.constant('tool-call' as const),
        turn,
        tool: id,
        name: id,
        args: fc.constant('{}'),
        executor: fc.constant('agent' as const),
      }),
      fc.record({ type: fc.constant('turn-started' as const), turn }),
      fc.record(
        { type: fc.constant('step-start' as const), turn, step, ...lane },
        { requiredKeys: ['type', 'turn', 'step'] },
      ),
      fc.record(
        { type: fc.constant('step-end' as const), turn, step, stop: fc.constant('end' as const), ...lane },
        { requiredKeys: ['type', 'turn', 'step', 'stop'] },
      ),
      fc.record({
        type: fc.constant('turn-end' as const),
        turn,
        outcome: fc.constantFrom('completed', 'failed', 'cancelled'),
      }),
    )
    fc.assert(
      fc.property(fc.array(event), fc.boolean(), (list, cancelled) => {
        const seen = run(events(list), cancelled)
        expect(seen.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
        expect(seen.at(-1)!.type).toBe('turn-end')
        expect(seen.every((event) => event.turn === 't')).toBe(true)
        const open = new Set<string>()
        for (const event of seen) {
          if (event.type === 'step-start' || event.type === 'step-end') {
            const key = `step ${event.lane} ${event.step}`
            expect(open.has(key)).toBe(event.type === 'step-end')
            if (!open.delete(key)) open.add(key)
          }
          if (event.type === 'message-start') open.add(event.message)
          if (event.type === 'text-delta') expect(open.has(event.message)).toBe(true)
          if (event.type === 'message-end') open.delete(event.message)
        }
        expect(open.size).toBe(0)
      }),
    )
  })
})
