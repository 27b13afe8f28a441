import fc from 'fast-check'
import { from } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { viewOf } from '../../src/engine/events/view.ts'
import { type AgentEvent, type EventOf, fault, type TurnEvent, textOf } from '../../src/model/index.ts'
import { lawful } from './lawful.ts'

/** What turns make of ids that an agent uses again: an id never stands for two things, and nothing that was said is gone. */

function run(events: readonly AgentEvent[]): TurnEvent[] {
  const seen: TurnEvent[] = []
  const missingEnd = () => fault('agent-crashed', 'gone')
  const source = from<AgentEvent[]>([...events, { type: 'turn-end', turn: 't', outcome: 'completed' }])
  lawful(source, { turn: 't', missingEnd, cancelled: () => false }).subscribe((event) => seen.push(event))
  return seen
}

const fold = (events: readonly TurnEvent[]) => viewOf({ turn: 't', session: 's', agent: 'a', startedAt: 0 }, events)
const view = (events: readonly AgentEvent[]) => fold(run(events))
const tools = (events: readonly AgentEvent[]) =>
  view(events).tools.map(({ id, name, args, parts }) => [id, name, args, textOf(parts)])

const call = (tool: string, name: string, lane?: string): EventOf<'tool-call'> => ({
  type: 'tool-call',
  turn: 't',
  tool,
  name,
  args: `{"of":"${name}"}`,
  executor: 'agent',
  ...(lane !== undefined && { lane }),
})
const draft = (tool: string, name: string): EventOf<'tool-start'> => ({
  type: 'tool-start',
  turn: 't',
  tool,
  name,
  executor: 'agent',
})
const end = (tool: string, text: string, lane?: string): EventOf<'tool-end'> => ({
  type: 'tool-end',
  turn: 't',
  tool,
  status: 'ok',
  parts: [{ type: 'text', text }],
  ...(lane !== undefined && { lane }),
})
const open = (message: string, lane?: string): TurnEvent => ({
  type: 'message-start',
  turn: 't',
  message,
  role: 'assistant',
  ...(lane !== undefined && { lane }),
})
const say = (message: string, text: string, lane?: string): TurnEvent => ({
  type: 'text-delta',
  turn: 't',
  message,
  text,
  ...(lane !== undefined && { lane }),
})
const close = (message: string): TurnEvent => ({ type: 'message-end', turn: 't', message })

const BASH = ['x', 'bash', '{"of":"bash"}', 'files']
const READ = ['x#2', 'read', '{"of":"read"}', 'content']

describe('tool calls that share an id', () => {
  test.each<[string, AgentEvent[]]>([
    ['one after the other', [call('x', 'bash'), end('x', 'files'), call('x', 'read'), end('x', 'content')]],
    ['at once', [call('x', 'bash'), call('x', 'read'), end('x', 'files'), end('x', 'content')]],
    [
      'in pieces, one after the other',
      [
        draft('x', 'bash'),
        call('x', 'bash'),
        end('x', 'files'),
        draft('x', 'read'),
        { type: 'tool-args-delta', turn: 't', tool: 'x', text: '{"of":' },
        call('x', 'read'),
        end('x', 'content'),
      ],
    ],
    [
      'in pieces, at once',
      [
        draft('x', 'bash'),
        draft('x', 'read'),
        call('x', 'bash'),
        call('x', 'read'),
        end('x', 'files'),
        end('x', 'content'),
      ],
    ],
    ['in lanes', [call('x', 'bash'), call('x', 'read', 'sub'), end('x', 'content', 'sub'), end('x', 'files')]],
  ])('are two, %s', (_name, events) => {
    expect(tools(events)).toEqual([BASH, READ])
  })

  test('keep their questions, progress and places in messages apart', () => {
    const question = { kind: 'approval', tool: 'x', name: 'x', args: '{}', options: [] } as const
    const events = run([
      call('x', 'bash'),
      call('x', 'read'),
      { type: 'ask', turn: 't', ask: 'q1', question },
      { type: 'ask', turn: 't', ask: 'q2', question },
      end('x', 'files'),
      { type: 'tool-progress', turn: 't', tool: 'x', parts: [] },
      {
        type: 'message-end',
        turn: 't',
        message: 'm',
        parts: [{ type: 'tool-reply', tool: 'x', status: 'ok', parts: [] }],
      },
    ])
    const asked = events.flatMap((event) => (event.type === 'ask' ? [event.question] : []))
    expect(asked.map((asked) => 'tool' in asked && asked.tool)).toEqual(['x', 'x#2'])
    expect(events).toContainEqual({ type: 'tool-progress', turn: 't', tool: 'x#2', parts: [] })
    const said = events.find(({ type }) => type === 'message-end') as EventOf<'message-end'>
    expect(said.parts).toEqual([{ type: 'tool-reply', tool: 'x#2', status: 'ok', parts: [] }])
  })

  test('take no number that the agent uses itself', () => {
    const events = [call('x#2', 'bash'), end('x#2', '1'), call('x', 'a'), end('x', '2'), call('x', 'b'), end('x', '3')]
    expect(tools(events).map(([id]) => id)).toEqual(['x#2', 'x', 'x#3'])
  })
})

describe('messages that share an id', () => {
  test.each<[string, AgentEvent[], unknown[]]>([
    [
      'one after the other',
      [open('m'), say('m', 'a'), close('m'), say('m', 'b'), close('m')],
      [
        ['m', 'a'],
        ['m#2', 'b'],
      ],
    ],
    [
      'at once',
      [open('m'), say('m', 'a'), open('m'), say('m', 'b')],
      [
        ['m', 'a'],
        ['m#2', 'b'],
      ],
    ],
    [
      'in lanes',
      [open('m'), open('m', 'sub'), say('m', 'a'), say('m', 'b', 'sub'), say('m', 'c')],
      [
        ['m', 'ac'],
        ['m#2', 'b'],
      ],
    ],
  ])('are two, %s', (_name, events, expected) => {
    expect(view(events).messages.map(({ id, text }) => [id, text])).toEqual(expected)
  })
})

test('whatever ids are used again, every call and every text is there once, under an id of its own', () => {
  const id = fc.constantFrom('', 'x', 'x#2')
  const piece = fc.oneof(
    fc.record({ kind: fc.constant('call' as const), id }),
    fc.record({ kind: fc.constant('message' as const), id }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      // Each begins in its order; each ends behind its begin, but among the others.
      const events: AgentEvent[] = []
      const ends: AgentEvent[] = []
      for (const [at, { kind, id }] of pieces.entries()) {
        if (kind === 'message') events.push(open(id), say(id, `${at}`), close(id))
        else {
          events.push(call(id, `${at}`))
          ends.push(end(id, `${at}`))
          while (ends.length > 2) events.push(ends.shift()!)
        }
      }
      const all = view([...events, ...ends])
      const calls = pieces.flatMap(({ kind }, at) => (kind === 'call' ? [`${at}`] : []))
      expect(all.tools.map(({ name }) => name)).toEqual(calls)
      expect(all.tools.map(({ parts }) => textOf(parts))).toEqual(calls)
      const texts = pieces.flatMap(({ kind }, at) => (kind === 'message' ? [`${at}`] : []))
      expect(all.messages.map(({ text }) => text)).toEqual(texts)
      for (const list of [all.tools, all.messages]) expect(new Set(list.map(({ id }) => id)).size).toBe(list.length)
    }),
  )
})
