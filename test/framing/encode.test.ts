import { describe, expect, test } from 'vitest'
import { type Frame, type FrameRun, type Framing, framesOf } from '../../src/contract/index.ts'
import { encodeFrame, encodeRun } from '../../src/framing/index.ts'

describe('encodeFrame writes', () => {
  test.each<[Framing, string, Frame, string]>([
    ['ndjson', 'a line', '{"a":1}', '{"a":1}\n'],
    ['ndjson', 'the data of an object', { data: '{"a":1}', event: 'x' }, '{"a":1}\n'],
    ['ndjson', 'pretty-printed JSON in one line', '{\n  "a": 1\r\n}', '{   "a": 1  }\n'],
    ['ndjson', 'U+2028 as it is', '"\u2028"', '"\u2028"\n'],
    ['text', 'a line', 'a b', 'a b\n'],
    ['text', 'a blank line', '', '\n'],
    ['body', 'the text itself', 'a\nb', 'a\nb'],
    ['body', 'the data of an object', { data: 'a' }, 'a'],
    ['sse', 'a string as data', 'a', 'data: a\n\n'],
    ['sse', 'a string of two lines', 'a\nb', 'data: a\ndata: b\n\n'],
    ['sse', 'name, id and data', { data: 'a', event: 'x', id: '1' }, 'event: x\nid: 1\ndata: a\n\n'],
    ['sse', 'an empty id', { data: 'a', id: '' }, 'id: \ndata: a\n\n'],
    [
      'sse',
      'every line end of data as a new line',
      { data: 'a\nb\rc\r\nd\n' },
      'data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n',
    ],
    [
      'sse',
      'no line end in names',
      { data: 'a', event: 'x\ndata: y', id: '1\r2' },
      'event: x data: y\nid: 1 2\ndata: a\n\n',
    ],
    ['sse', 'empty data', { data: '' }, 'data: \n\n'],
    ['sse', 'a comment in one line', { data: 'alive\ndata: x', comment: true }, ': alive data: x\n\n'],
  ])('%s: %s', (framing, _rule, frame, text) => {
    expect(encodeFrame(framing, frame)).toBe(text)
  })
})

test('each event has its own name, whatever the one before was', () => {
  const names = ['a', 'a', 'b', 'a', undefined, 'a', 'a\nb', 'a\nb']
  const encoded = names.map((event) => encodeFrame('sse', { data: 'x', ...(event !== undefined && { event }) }))
  const lines = [
    'event: a\n',
    'event: a\n',
    'event: b\n',
    'event: a\n',
    '',
    'event: a\n',
    'event: a b\n',
    'event: a b\n',
  ]
  expect(encoded).toEqual(lines.map((line) => `${line}data: x\n\n`))
})

describe.each(['ndjson', 'text', 'sse', 'body'] as const)('the frames of a run as %s', (framing) => {
  test.each([
    ['alone', {}],
    ['with a name', { event: 'x' }],
    ['with ids', { event: 'x', id: 9 }],
    ['with a number', { count: { first: 9, after: ',"b":' } }],
    ['with ids and a number', { event: 'x', id: 9, count: { first: 99, after: ',"b":' } }],
  ])('are what each is, %s', (_, more) => {
    const run: FrameRun = { before: '{"a":', pieces: ['1', '2', '3'], after: '}', ...more }
    expect(encodeRun(framing, run)).toBe(
      framesOf(run)
        .map((frame) => encodeFrame(framing, frame))
        .join(''),
    )
  })
})
