import fc from 'fast-check'
import { expect, test } from 'vitest'
import { frameText } from '../../src/contract/index.ts'
import type { Wire, WireStep } from '../../src/translate/index.ts'
import { readFrames } from '../../src/translate/wire-frames.ts'

/** What a reader of these steps was told. */
function read(steps: readonly WireStep[], framing: 'ndjson' | 'body' = 'ndjson'): unknown[][] {
  const seen: unknown[][] = []
  const wire: Wire = { http: undefined, argv: undefined, env: {}, steps, end: { why: 'closed' } }
  readFrames(wire, framing, {
    asked: (frame) => seen.push(['asked', frameText(frame)]),
    askedAll: () => seen.push(['askedAll']),
    head: ({ status }) => seen.push(['head', status]),
    said: (frame) => seen.push(['said', frameText(frame)]),
    fault: ({ code }) => seen.push(['fault', code]),
  })
  return seen
}

/** A client that sent no body has sent an empty one. */
const NO_BODY = [['asked', ''], ['askedAll']]

test('frames come in the order of the recording', () => {
  expect(
    read([
      { who: 'client', text: '{"a":1}\n{"b"' },
      { who: 'agent', text: '{"c":1}\n' },
      { who: 'client', text: ':2}\n' },
      { who: 'client', text: undefined },
      { who: 'agent', text: '{"d":1}' },
    ]),
  ).toEqual([['asked', '{"a":1}'], ['said', '{"c":1}'], ['asked', '{"b":2}'], ['askedAll'], ['said', '{"d":1}']])
})

test('a client that wrote nothing has ended its input before the agent speaks', () => {
  expect(read([{ who: 'agent', text: '1\n' }])).toEqual([['askedAll'], ['said', '1']])
  expect(read([])).toEqual([['askedAll']])
})

test.each([
  [{ 'content-type': 'text/event-stream; charset=utf-8' }, [['said', 'x']]],
  [{ 'content-type': 'application/json' }, [['said', 'data: x\n\n']]],
])('an answer with the head %j is framed by it', (headers, said) => {
  const seen = read(
    [
      { who: 'agent', head: { status: 200, headers } },
      { who: 'agent', text: 'data: x\n\n' },
    ],
    'body',
  )
  expect(seen).toEqual([...NO_BODY, ['head', 200], ...said])
})

test('a body without a head that begins like an event stream is one', () => {
  expect(read([{ who: 'agent', text: 'data: x\n\n' }], 'body')).toEqual([...NO_BODY, ['said', 'x']])
  expect(read([{ who: 'agent', text: '{"x":1}' }], 'body')).toEqual([...NO_BODY, ['said', '{"x":1}']])
})

test('law: any split of both sides gives the same frames of each', () => {
  const text = '{"a":1}\n{"b":2}\n{"c":3}\n'
  const cuts = fc.array(fc.nat(text.length), { maxLength: 6 })
  const split = (who: 'client' | 'agent', at: readonly number[]): WireStep[] => {
    const points = [0, ...[...at].sort((a, b) => a - b), text.length]
    return points.slice(1).map((end, index) => ({ who, text: text.slice(points[index], end) }))
  }
  const expected = ['{"a":1}', '{"b":2}', '{"c":3}']
  fc.assert(
    fc.property(cuts, cuts, (client, agent) => {
      const seen = read([...split('client', client), ...split('agent', agent)])
      for (const side of ['asked', 'said'])
        expect(seen.flatMap(([what, frame]) => (what === side ? [frame] : []))).toEqual(expected)
    }),
  )
})
