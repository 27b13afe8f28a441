import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Answer, ClientSink, Framing } from '../../src/contract/index.ts'
import type { ClientOptions } from '../../src/engine/client/client-options.ts'
import { ClientOutput } from '../../src/engine/client/client-output.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { Outbox } from '../../src/engine/client/outbox.ts'
import { LossLedger } from '../../src/model/index.ts'
import { ANSWER, PlainHost, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const tick = (): void => void vi.advanceTimersByTime(1)

/** An output on this transport, and what its sink was given. */
function output(transport: 'stdio' | 'http' = 'http', framing: Framing = 'ndjson') {
  const seen: unknown[][] = []
  const sink: ClientSink = {
    head: (status, headers) => void seen.push(['head', status, headers]),
    write: (text) => seen.push(['write', text]) > 0,
    whenRead: (callback) => callback(),
    warn() {},
    end: (exitCode, trailers) => void seen.push(['end', exitCode, trailers]),
    abort: () => void seen.push(['abort']),
  }
  const options = { sink, dialect: { framing }, context: { transport } } as unknown as ClientOptions
  const outbox = new Outbox(
    () => {},
    () => {},
    () => {},
  )
  const owner = {
    outbox,
    stallLimit: 100,
    stalled() {},
    valve() {},
    wrote: (text: string) => seen.push(['wrote', text]),
  }
  return { it: new ClientOutput(options, owner), seen }
}

const exchange = (answer: Partial<Answer> = {}): Exchange =>
  new Exchange(start(), { ...ANSWER, ...answer }, new PlainHost())
const loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 } as const

test('the head waits for the first frame, and names the turn, its agent and its losses by then', () => {
  const { it, seen } = output()
  const of = exchange({ headers: { 'x-own': '1' }, status: 202 })
  of.lost(loss)
  of.turn = { id: 't', agent: { name: 'a' }, losses: new LossLedger() } as never
  expect(it.begun).toBe(false)
  it.during(of, 200, () => it.send('1'))
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
  const { it, seen } = output()
  const of = exchange()
  of.past = { turn: 'old', agent: 'b' }
  of.replays = true
  it.during(of, 200, () => it.send('1'))
  expect(seen[0]![2]).toMatchObject({ 'turnpike-turn': 'old', 'turnpike-agent': 'b', 'idempotent-replayed': 'true' })
})

test('the first frame decides the status', () => {
  const { it, seen } = output()
  it.during(exchange({ status: 202 }), 400, () => it.send('1'))
  it.during(exchange(), 500, () => it.send('2'))
  expect([it.status, seen.filter(([what]) => what === 'head').length]).toEqual([400, 1])
})

test.each<[Framing, string | { data: string }, string, string]>([
  ['sse', '{"whole":1}', 'application/json; charset=utf-8', '{"whole":1}'],
  ['sse', { data: 'x' }, 'text/event-stream; charset=utf-8', 'data: x\n\n'],
  ['text', 'x', 'text/plain; charset=utf-8', 'x\n'],
])('an answer framed as %s whose first frame is %j has the type %s', (framing, frame, type, text) => {
  const { it, seen } = output()
  it.during(exchange({ framing }), 200, () => it.send(frame))
  tick()
  expect(seen[0]![2]).toMatchObject({ 'content-type': type })
  expect(seen.slice(1)).toEqual([
    ['wrote', text],
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
  const { it, seen } = output()
  const of = exchange()
  it.during(of, 200, () => it.send('1'))
  of.lost(loss)
  it.finish(0)
  it.finish(9)
  it.send('2')
  tick()
  expect(seen.at(-2)).toEqual(['write', '1\n'])
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
  expect(seen.map(([what]) => what)).toEqual(['head', 'wrote', 'write', 'read'])
})
