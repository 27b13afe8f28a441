import { expect, test } from 'vitest'
import { type Capabilities, capabilities, type FrontPorts } from '../../src/contract/index.ts'
import type { Exchange } from '../../src/engine/client/exchange.ts'
import { acceptedTurn } from '../../src/engine/events/turn-events.ts'
import { RecordedClient } from '../../src/engine/replay/recorded-client.ts'
import { type EventOf, fault, ITEMS, type TurnView } from '../../src/model/index.ts'
import { ALL, ANSWER, start } from '../kit/plain.ts'

const ASK: EventOf<'ask'> = {
  type: 'ask',
  turn: 't',
  ask: 'q',
  question: { kind: 'client', method: 'm', params: '{}' },
}

/** A recorded client whose front issues a command for each frame, and what its listener heard. */
function recorded(more: { able?: Capabilities; asks?: 'inline' | 'never'; at?: number; idPrefix?: string } = {}) {
  const { able = ALL, asks = 'inline', ...wire } = more
  const seen: unknown[][] = []
  const note = (...what: unknown[]): void => void seen.push(what)
  const views: TurnView[] = []
  let ports!: FrontPorts
  let exchange!: Exchange
  const front = {
    capabilities: able,
    env: [],
    open(_context: unknown, given: FrontPorts) {
      ports = given
      return {
        decode: () => given.command(start(), { ...ANSWER, asks }),
        encode(event: { type: string }, _exchange: string, view: TurnView) {
          views.push(view)
          given.send(event.type)
        },
        encodeLink: (event: { type: string }) => given.send(event.type),
        encodeFault: () => given.send('fault'),
      }
    },
  }
  const context = { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} } as const
  const client = new RecordedClient(
    { dialect: { wireVersion: '1', framing: 'ndjson', front }, context, ...wire },
    {
      command: (_command, opened) => {
        exchange = opened!
      },
      send: (frame, framing) => note('send', frame, framing),
      loss: ({ item }, direction) => note('loss', item, direction),
      fault: ({ code }, direction) => note('fault', code, direction),
      close: (exitCode) => note('close', exitCode),
    },
  )
  client.open()
  client.decode('1')
  return { client, seen, views, ports, exchange }
}

test('it shows the events of a turn in one view, at its time', () => {
  const { client, seen, views, exchange } = recorded({ at: 7 })
  client.deliver(acceptedTurn('t', 'new', 's2', undefined), exchange)
  client.deliver({ type: 'turn-end', turn: 't', outcome: 'completed' }, exchange)
  expect(seen).toEqual([
    ['send', 'turn-accepted', 'ndjson'],
    ['send', 'turn-end', 'ndjson'],
  ])
  const [view] = views
  expect([views[1], view?.session, view?.agent, view?.startedAt, view?.seq]).toEqual([view, 's2', 'agent', 7, 2])
})

test('a turn whose acceptance it is not shown has the session of its request', () => {
  const { client, views, exchange } = recorded()
  client.deliver({ type: 'turn-started', turn: 't' }, exchange)
  expect(views[0]?.session).toBe('s')
})

test('a question that its client cannot be asked is a loss, and its settlement is not shown', () => {
  const { client, seen, exchange } = recorded({ asks: 'never' })
  client.deliver(ASK, exchange)
  client.deliver({ type: 'ask-settled', turn: 't', ask: 'q', how: 'answered', by: 'policy' }, exchange)
  expect(seen).toEqual([['loss', 'ask', 'response']])
  const able = recorded()
  able.client.deliver(ASK, able.exchange)
  expect(able.seen).toEqual([['send', 'ask', 'ndjson']])
})

test('losses are told as they happen, with their direction', () => {
  const { client, seen, ports, exchange } = recorded({
    able: capabilities({ full: ITEMS.filter((i) => i !== 'plan') }),
  })
  const lost = { kind: 'dropped', item: 'ext', why: 'no-place', count: 1 } as const
  ports.report(lost, 'x')
  ports.report(lost, 'unknown')
  client.deliver({ type: 'plan', turn: 't', json: '[]' }, exchange)
  expect(seen).toEqual([
    ['loss', 'ext', 'request'],
    ['loss', 'ext', 'request'],
    ['loss', 'plan', 'response'],
  ])
})

test('its front counts ids from 1 or under a prefix, and is at time 0 or the one that is given', () => {
  const given = (more: { at?: number; idPrefix?: string }) => {
    const { ports } = recorded(more)
    return [ports.newId(), ports.newId(), ports.now?.()]
  }
  expect([given({}), given({ at: 5, idPrefix: 'L-' })]).toEqual([
    ['1', '2', 0],
    ['L-1', 'L-2', 5],
  ])
})

test('faults and the end of the wire are told; then nothing more is read or said', () => {
  const { client, seen, ports } = recorded()
  client.tell({ turn: null, type: 'agent-ready' })
  ports.fault(fault('invalid-request', 'x'), 'continues')
  client.end()
  ports.close(3)
  client.decode('2')
  client.tell({ turn: null, type: 'agent-ready' })
  ports.warn('nobody reads it')
  expect([client.closed, client.exitCode, seen]).toEqual([
    true,
    3,
    [
      ['send', 'agent-ready', 'ndjson'],
      ['fault', 'invalid-request', 'request'],
      ['send', 'fault', 'ndjson'],
      ['close', 3],
    ],
  ])
})
