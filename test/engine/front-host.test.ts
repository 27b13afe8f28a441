import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FrontLink, FrontPorts } from '../../src/contract/index.ts'
import type { Exchange } from '../../src/engine/client/exchange.ts'
import { FrontHost } from '../../src/engine/client/front-host.ts'
import type { FrontWire } from '../../src/engine/client/front-wire.ts'
import { type Command, type Fault, fault, type Loss, type TurnEvent } from '../../src/model/index.ts'
import { ALL, ANSWER, start } from '../kit/plain.ts'

const STARTED: TurnEvent = { type: 'turn-started', turn: 't' }
const LOST: Loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 }
const FOUND: Fault = fault('invalid-request', 'x')
const VIEW = undefined as never

/** A host of a link that does what it is told to, and what its wire was told. */
function hosted(link: (ports: FrontPorts) => Partial<FrontLink> = () => ({})) {
  const seen: unknown[][] = []
  const note = (...what: unknown[]): void => void seen.push(what)
  const exchanges: Exchange[] = []
  let ports!: FrontPorts
  const wire: FrontWire = {
    command(_command, exchange) {
      if (!exchange) return
      exchange.onLoss = ({ item }, direction) => note('loss', item, direction)
      exchanges.push(exchange)
    },
    sendRun() {},
    send: (frame) => note('send', frame, host.framingOf(frame)),
    fault: (found, direction) => note('fault', found.code, direction),
    ended: ({ id }) => note('ended', id),
    inputEnded: (exitCode) => note('inputEnded', exitCode),
    lost: ({ item }) => note('lost', item),
  }
  const host: FrontHost = new FrontHost(
    {
      dialect: {
        wireVersion: '1',
        framing: 'ndjson',
        front: {
          capabilities: ALL,
          env: [],
          open(_context, given) {
            ports = given
            return {
              decode: (frame) => note('decode', frame),
              decodeEnd: (why) => note('decodeEnd', why),
              encode: (event) => note('encode', event.type, host.answering?.id),
              encodeFault: (found, exchange, input) => note('encodeFault', found.code, exchange, input),
              encodeLink: (event) => note('encodeLink', event.type, host.answering?.id),
              ...link(given),
            }
          },
        },
      },
      context: { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} },
      idPrefix: 'L-',
      now: () => 7,
      warn: (text) => note('warn', text),
      statusOf: () => 418,
    },
    wire,
  )
  const ask = (id = 'x', command: Command = start({}, id)): Exchange => {
    ports.command(command, { ...ANSWER })
    return exchanges.at(-1)!
  }
  return { host, ports, seen, ask, exchanges }
}

test('it gives its link ids that count up, the time, and lines for people', () => {
  const { ports, seen } = hosted()
  ports.warn('w')
  expect([ports.newId(), ports.newId(), ports.now?.(), seen]).toEqual(['L-1', 'L-2', 7, [['warn', 'w']]])
})

describe('an answer', () => {
  test('is encoded for its exchange, also when the link asks something meanwhile', () => {
    const inner: unknown[] = []
    const { host, ask } = hosted((ports) => ({
      encode() {
        inner.push(host.answering?.id)
        ports.command(start({}, 'second'), ANSWER)
        ports.fault(FOUND, 'continues', 'second')
        inner.push(host.answering?.id)
      },
    }))
    host.encode(STARTED, ask('first'), VIEW)
    expect([inner, host.answering]).toEqual([['first', 'first'], undefined])
  })

  test('has the status of its answer, of its failure, or the one that the link says', () => {
    const { host, ports, ask } = hosted()
    const exchange = ask()
    host.encode(STARTED, exchange, VIEW)
    const statuses = [host.status]
    host.encode({ type: 'turn-end', turn: 't', outcome: 'failed', fault: FOUND }, exchange, VIEW)
    statuses.push(host.status)
    host.encodeLink({ turn: null, type: 'command-reply', exchange: 'x' })
    statuses.push(host.status)
    ports.fault(FOUND, 'continues', 'x', 409)
    statuses.push(host.status)
    expect(statuses).toEqual([200, 418, 200, 409])
  })

  test('has the status of a failure that its link sets while it encodes it', () => {
    let statuses: number[] = []
    let exchange: Exchange | undefined
    const { host, ask } = hosted(() => ({
      encode() {
        statuses = [host.status]
        exchange!.answer.failureStatus = 400
        statuses.push(host.status)
      },
    }))
    exchange = ask()
    host.encode({ type: 'turn-end', turn: 't', outcome: 'failed', fault: FOUND }, exchange, VIEW)
    expect(statuses).toEqual([418, 400])
  })

  test('that the link fails ends, and its turn goes on without it', () => {
    const { host, ports, seen, ask } = hosted()
    const exchange = ask()
    exchange.turn = { leave: ({ id }: Exchange) => seen.push(['leave', id]) } as never
    ports.fault(FOUND, 'ends', 'x')
    expect([exchange.ended, host.exchanges, host.inputEnded]).toEqual([true, [], true])
    expect(seen).toEqual([
      ['fault', 'invalid-request', 'request'],
      ['encodeFault', 'invalid-request', 'x', 'ends'],
      ['leave', 'x'],
      ['ended', 'x'],
      ['decodeEnd', 'eof'],
      ['inputEnded', undefined],
    ])
  })

  test('has the framing of its exchange, a whole body where a stream has not begun', () => {
    const { host, ask } = hosted()
    expect([host.framingOf('x')]).toEqual(['ndjson'])
    const { host: text } = hosted(() => ({ framing: 'text' }))
    expect([text.framingOf('x')]).toEqual(['text'])
    host.answering = ask()
    Object.assign(host.answering, { answer: { ...ANSWER, framing: 'sse' } })
    expect([host.framingOf('x'), host.framingOf({ data: 'x' })]).toEqual(['body', 'sse'])
  })
})

describe('a loss', () => {
  test('of the answer that is encoded is one of the response, any other one of the request', () => {
    const { host, ports, seen, ask } = hosted((own) => ({
      encode() {
        own.report(LOST, 'x')
        own.report({ ...LOST, item: 'ext' }, 'y')
      },
    }))
    const [first, second] = [ask('x'), ask('y')]
    ports.report({ ...LOST, item: 'usage' }, 'x')
    host.encode(STARTED, first, VIEW)
    ports.report(LOST, 'unknown')
    expect(seen).toEqual([
      ['loss', 'usage', 'request'],
      ['loss', 'plan', 'response'],
      ['loss', 'ext', 'request'],
      ['lost', 'plan'],
    ])
    expect([ports.losses('x'), ports.losses('unknown')]).toEqual([[{ ...LOST, item: 'usage' }, LOST], []])
    expect(second.losses).toEqual([{ ...LOST, item: 'ext' }])
  })
})

describe('the input', () => {
  test('ends once, and nothing is read after that', () => {
    const { host, seen } = hosted()
    host.open()
    host.decode('1')
    host.decodeEnd('eof')
    host.decodeEnd('signal')
    host.decode('2')
    expect(seen).toEqual([
      ['decode', '1'],
      ['decodeEnd', 'eof'],
      ['inputEnded', undefined],
    ])
  })

  test('that is closed is told to the turns that are not only followed', () => {
    const { host, seen, ask } = hosted()
    for (const exchange of [ask('x'), ask('f', { exchange: 'f', type: 'turn-follow', target: 'running' })])
      exchange.turn = { onInputClosed: () => seen.push(['closed', exchange.id]) } as never
    host.inputClosed()
    expect([seen, host.client.inputClosed]).toEqual([[['closed', 'x']], true])
  })
})

test('a wire that its link closes drops what is open, and reads and begins nothing more', () => {
  const { host, ports, seen, ask, exchanges } = hosted()
  const exchange = ask()
  ports.close(3)
  ports.close(4)
  host.open()
  host.decode('1')
  host.encodeLink({ turn: null, type: 'agent-ready' })
  ports.command(start({}, 'late'), ANSWER)
  expect([exchange.unwanted, exchanges.length, seen]).toEqual([
    true,
    1,
    [
      ['ended', 'x'],
      ['inputEnded', 3],
    ],
  ])
})

test('a client that does not keep up holds the turns of its exchanges', () => {
  const { host, seen, ask } = hosted()
  ask().turn = { valve: () => seen.push(['valve', host.client.clogged]) } as never
  host.flow(true)
  host.flow(false)
  expect(seen).toEqual([
    ['valve', true],
    ['valve', false],
  ])
})

test('law: every exchange that a link opens ends once, whatever the link and the engine do', () => {
  const step = fc.record({
    what: fc.constantFrom('ask', 'end', 'fail', 'fault', 'reply', 'close' as const),
    which: fc.nat(4),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const { host, ports, seen, ask, exchanges } = hosted()
      for (const { what, which } of steps) {
        const exchange = exchanges[which % Math.max(1, exchanges.length)]
        if (what === 'ask') ask(`x${exchanges.length}`)
        else if (what === 'close') ports.close(0)
        else if (what === 'end') exchange?.deliver({ type: 'turn-end', turn: 't', outcome: 'completed' }, VIEW)
        else if (what === 'fail') exchange?.fail(FOUND)
        else if (what === 'fault' && exchange) ports.fault(FOUND, 'continues', exchange.id)
        else if (what === 'reply') exchange?.reply({})
      }
      ports.close(0)
      const ended = seen.flatMap(([what, id]) => (what === 'ended' ? [id] : []))
      expect(ended.sort()).toEqual(exchanges.map(({ id }) => id).sort())
      expect(host.exchanges).toEqual([])
    }),
  )
})
