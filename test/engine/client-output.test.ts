import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, type ClientSink, type Framing, type FrontDialect, silentHooks } from '../../src/contract/index.ts'
import { ClientOutput } from '../../src/engine/client/client-output.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { FrontHost } from '../../src/engine/client/front-host.ts'
import { Outbox } from '../../src/engine/client/outbox.ts'
import { fault, LossLedger } from '../../src/model/index.ts'
import { ALL, ANSWER, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const tick = (): void => void vi.advanceTimersByTime(1)

/** An output on this transport, and what its sink was given. `reads`: the client keeps up. */
function output(
  transport: 'stdio' | 'http' = 'http',
  framing: Framing = 'ndjson',
  reads = true,
  commit: () => Promise<void> | undefined = () => undefined,
) {
  const seen: unknown[][] = []
  const note = (...what: unknown[]): void => void seen.push(what)
  const sink: ClientSink = {
    head: (status, headers) => note('head', status, headers),
    write: (text) => {
      note('write', text)
      return reads
    },
    whenRead: (callback) => callback(),
    warn() {},
    end: (exitCode, trailers) => note('end', exitCode, trailers),
    abort: () => note('abort'),
  }
  const outbox = new Outbox(
    commit as () => Promise<void>,
    () => {},
    () => {},
  )
  const scope = { ...silentHooks.request({} as never), sent: (text: string) => note('sent', text) }
  // The link writes what it encodes.
  const dialect: FrontDialect = {
    wireVersion: '1',
    framing,
    front: {
      capabilities: ALL,
      env: [],
      open: (_context, ports) => ({
        decode: (frame) => ports.send(frame),
        encode: (event) => ports.send(JSON.stringify(event.type)),
        encodeFault: (found) => ports.send(JSON.stringify(found.code)),
      }),
    },
  }
  const context = { transport, method: '', path: '', query: '', headers: {}, argv: [], env: {} } as const
  const opening = { dialect, context, idPrefix: '', now: () => 0, warn() {}, statusOf: () => 500 }
  const host = new FrontHost(opening, {
    command() {},
    sendRun() {},
    send: (frame) => it.send(frame),
    fault() {},
    ended() {},
    inputEnded() {},
  })
  const stalled = (): void => note('stalled')
  const it = new ClientOutput(host, { outbox, sink, scope, tap: undefined, stallLimit: 100, stalled })
  const exchange = (answer: Partial<Answer> = {}): Exchange => new Exchange(start(), { ...ANSWER, ...answer }, host)
  const encode = (of: Exchange): void => host.encode({ type: 'turn-started', turn: 't' }, of, undefined as never)
  return { it, host, seen, exchange, encode }
}

const loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 } as const

test('the head waits for the first frame, and names the turn, its agent and its losses by then', () => {
  const { it, seen, exchange, encode } = output()
  const of = exchange({ headers: { 'x-own': '1' }, status: 202 })
  of.lost(loss)
  of.turn = { id: 't', agent: { name: 'a' }, losses: new LossLedger() } as never
  expect(it.begun).toBe(false)
  encode(of)
  expect([it.begun, it.status]).toEqual([true, 202])
  expect(seen).toEqual([
    [
      'head',
      202,
      {
        'content-type': 'application/x-ndjson; charset=utf-8',
        'turnpike-turn': 't',
        'turnpike-agent': 'a',
        'turnpike-loss': 'dropped=1',
        'x-own': '1',
      },
    ],
  ])
})

test('an answer from the record says whose it was, and that it is given again', () => {
  const { seen, exchange, encode } = output()
  const of = exchange()
  of.past = { turn: 'old', agent: 'b' }
  of.replays = true
  encode(of)
  expect(seen[0]![2]).toMatchObject({ 'turnpike-turn': 'old', 'turnpike-agent': 'b', 'idempotent-replayed': 'true' })
})

test('the first frame decides the status', () => {
  const { it, host, seen, exchange, encode } = output()
  host.encodeFault(fault('internal', 'x'), exchange({ status: 202 }))
  encode(exchange({ status: 202 }))
  expect([it.status, seen.filter(([what]) => what === 'head').length]).toEqual([500, 1])
})

test.each<[Framing, string | { data: string }, string, string]>([
  ['sse', '{"whole":1}', 'application/json; charset=utf-8', '{"whole":1}'],
  ['sse', { data: 'x' }, 'text/event-stream; charset=utf-8', 'data: x\n\n'],
  ['text', 'x', 'text/plain; charset=utf-8', 'x\n'],
])('an answer framed as %s whose first frame is %j has the type %s', (framing, frame, type, text) => {
  const { it, host, seen, exchange } = output()
  host.answering = exchange({ framing })
  it.send(frame)
  tick()
  expect(seen[0]![2]).toMatchObject({ 'content-type': type })
  expect(seen.slice(1)).toEqual([
    ['sent', text],
    ['write', text],
  ])
})

test('a body on stdio is a line', () => {
  const { it, seen } = output('stdio', 'body')
  it.send('{}')
  tick()
  expect(seen.at(-1)).toEqual(['write', '{}\n'])
})

test('a stream has its losses in its trailers too', () => {
  const { it, seen, exchange, encode } = output()
  const of = exchange()
  encode(of)
  of.lost(loss)
  it.finish(0)
  it.finish(9)
  it.send('2')
  tick()
  expect(seen.at(-2)).toEqual(['write', '"turn-started"\n'])
  expect(seen.at(-1)).toEqual(['end', 0, { 'turnpike-loss': 'dropped=1' }])
})

test('what was cut writes nothing more', () => {
  const { it, seen } = output()
  it.send('1')
  it.abort()
  it.send('2')
  it.finish(0)
  tick()
  expect(seen.filter(([what]) => what === 'write' || what === 'end')).toEqual([])
})

test('it was silent when nothing was sent since the last look', () => {
  const { it } = output()
  expect(it.wasSilent()).toBe(true)
  it.send('1')
  expect([it.wasSilent(), it.wasSilent()]).toEqual([false, true])
})

test('what waits for the client is called once everything before it is with it', () => {
  const { it, seen } = output()
  it.send('1')
  it.whenFlushed(() => seen.push(['read']))
  expect(seen.map(([what]) => what)).toEqual(['head'])
  tick()
  expect(seen.map(([what]) => what)).toEqual(['head', 'sent', 'write', 'read'])
})

test('a client that does not read clogs its turns until it has caught up, and is given up after the limit', () => {
  const { it, host, seen, exchange, encode } = output('http', 'ndjson', false)
  encode(exchange())
  tick()
  expect(host.client.clogged).toBe(true)
  vi.advanceTimersByTime(50)
  it.drained()
  it.drained()
  vi.advanceTimersByTime(100)
  expect([host.client.clogged, seen.filter(([what]) => what === 'stalled')]).toEqual([false, []])
  encode(exchange())
  tick()
  vi.advanceTimersByTime(100)
  expect(seen.filter(([what]) => what === 'stalled')).toEqual([['stalled']])
})

test.each([
  ['http', 204],
  ['stdio', 200],
] as const)('an answer over %s without a frame has the status %i', (transport, status) => {
  const { it, seen } = output(transport)
  it.finish(0)
  tick()
  expect([it.closed, seen]).toEqual([
    true,
    [
      ['head', status, {}],
      ['end', 0, undefined],
    ],
  ])
})

describe('while a commit takes its time', () => {
  /** An output whose commits are done when the test says so, and what its client was given. */
  function slow() {
    const commits: (() => void)[] = []
    const all = output('http', 'ndjson', true, () => new Promise((resolve) => commits.push(resolve)))
    const committed = async (): Promise<void> => {
      commits.shift()!()
      await vi.advanceTimersByTimeAsync(0)
    }
    const got = (): unknown[] => all.seen.filter(([what]) => what !== 'head' && what !== 'sent').map(([, text]) => text)
    return { ...all, commits, committed, got }
  }

  test('what comes meanwhile leaves with the next one, and the wire ends with the last', async () => {
    const { it, committed, commits, got } = slow()
    const read: string[] = []
    it.send('1')
    tick()
    it.whenFlushed(() => read.push('1'))
    it.send('2')
    it.whenFlushed(() => read.push('2'))
    it.finish(0)
    tick()
    expect([commits.length, got()]).toEqual([2, []])
    await committed()
    expect([got(), read]).toEqual([['1\n'], ['1']])
    await committed()
    expect([got(), read]).toEqual([
      ['1\n', '2\n', 0],
      ['1', '2'],
    ])
  })

  test('a wire that ends behind it ends with its own commit, though there is no more to write', async () => {
    const { it, committed, got } = slow()
    it.send('1')
    tick()
    it.finish(0)
    await committed()
    expect(got()).toEqual(['1\n'])
    tick()
    await committed()
    expect(got()).toEqual(['1\n', 0])
  })

  test('an end that the record refuses is never written, also when other text was under way', async () => {
    const { it, host, committed, got } = slow()
    it.send('text')
    tick()
    it.send('end')
    await committed()
    expect(got()).toEqual(['text\n'])
    tick()
    host.client.refused = true
    await committed()
    expect(got()).toEqual(['text\n', undefined, undefined])
  })
})
