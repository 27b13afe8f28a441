import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Framing } from '../../src/contract/index.ts'
import { encodeFrame, frameDecoder } from '../../src/framing/index.ts'
import { decode, frames, recorder } from './collect.ts'

const FRAMINGS: readonly Framing[] = ['ndjson', 'text', 'sse', 'body']

/** Text made of what decides where frames begin and end. */
const wire = fc
  .array(
    fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      ' ',
      ':',
      '\ufeff',
      '\u2028',
      '{"a":1}',
      'data',
      'data: ',
      'event: x',
      'id: 1',
      'é😀',
      '\0',
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

/** A text and one way to cut it into chunks, empty ones included. */
const cut = fc.tuple(wire, fc.array(fc.nat({ max: 200 }), { maxLength: 12 })).map(([text, at]) => {
  const marks = [0, ...at.map((mark) => Math.min(mark, text.length)).sort((a, b) => a - b), text.length]
  return { text, chunks: marks.slice(1).map((mark, index) => text.slice(marks[index], mark)) }
})

describe.each(FRAMINGS)('%s', (framing) => {
  test('any split of the text says the same, under any limit', () => {
    fc.assert(
      fc.property(cut, fc.nat({ max: 30 }), ({ text, chunks }, limit) => {
        expect(decode(framing, chunks, limit)).toStrictEqual(decode(framing, [text], limit))
        expect(decode(framing, [...text], limit)).toStrictEqual(decode(framing, [text], limit))
      }),
      { numRuns: 500 },
    )
  })

  test('a limit lets the same frames through up to the first that is longer, then one fault, then nothing', () => {
    fc.assert(
      fc.property(wire, fc.nat({ max: 30 }), (text, limit) => {
        const free = decode(framing, [text])
        const said = decode(framing, [text], limit)
        const passed = said.filter((one) => 'frame' in one)
        expect(passed).toStrictEqual(free.slice(0, passed.length))
        for (const one of passed) expect(encodedLength(one.frame)).toBeLessThanOrEqual(limit)
        if (said.length === passed.length) expect(passed).toStrictEqual(free)
        else {
          expect(said.length).toBe(passed.length + 1)
          const last = said.at(-1)
          expect(last).toMatchObject({ fault: { code: 'payload-too-large', retryable: false } })
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a frame of exactly the limit passes, one unit more does not', () => {
    const text = (length: number) => encodeFrame(framing, 'x'.repeat(length))
    expect(decode(framing, [text(100)], 100)).toHaveLength(1)
    expect(decode(framing, [text(100)], 100)[0]).toHaveProperty('frame')
    expect(decode(framing, [text(101)], 100)).toMatchObject([{ fault: { code: 'payload-too-large' } }])
  })

  test('a frame that never ends is refused as soon as it is too long, and nothing follows', () => {
    const sink = recorder()
    const decoder = frameDecoder(framing, 100, sink)
    for (let pushed = 0; sink.said.length === 0; pushed += 10) {
      expect(pushed).toBeLessThanOrEqual(110)
      decoder.push('x'.repeat(10))
    }
    decoder.push('\ndata: later\n\n')
    decoder.end()
    decoder.end()
    expect(sink.said).toHaveLength(1)
    expect(sink.said[0]).toHaveProperty('fault')
  })

  test('nothing comes after the end', () => {
    const sink = recorder()
    const decoder = frameDecoder(framing, 100, sink)
    decoder.push(encodeFrame(framing, 'a'))
    decoder.end()
    decoder.push(encodeFrame(framing, 'b'))
    decoder.end()
    expect(sink.said).toHaveLength(1)
  })
})

test('the fault says what was too long and which setting raises the limit, not what it held', () => {
  const said = FRAMINGS.map((framing) => decode(framing, ['secret'.repeat(9)], 8)[0])
  const advice = (what: string, setting: string) => ({
    fault: {
      code: 'payload-too-large',
      message: `A ${what} is longer than the limit of 8 characters; send smaller messages or raise ${setting}.`,
      retryable: false,
    },
  })
  expect(said).toStrictEqual([
    advice('line', 'limits.line'),
    advice('line', 'limits.line'),
    advice('server-sent event', 'limits.line'),
    advice('body', 'limits.body'),
  ])
})

describe('what is written is read back', () => {
  const line = fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n]/g, '_'))

  test('ndjson: any JSON value, pretty-printed too', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.json(), fc.nat({ max: 2 }))), (values) => {
        const sent = values.map(([json, indent]) => JSON.stringify(JSON.parse(json), null, indent))
        const read = frames('ndjson', sent.map((json) => encodeFrame('ndjson', json)).join(''))
        expect(read.map((json) => JSON.parse(json as string))).toStrictEqual(sent.map((json) => JSON.parse(json)))
      }),
    )
  })

  test('text: any lines', () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(frames('text', lines.map((one) => encodeFrame('text', one)).join(''))).toStrictEqual(lines)
      }),
    )
  })

  test('sse: any events', () => {
    const name = line.filter((text) => text !== '')
    const id = line.map((text) => text.replaceAll('\0', '_'))
    const data = fc.array(line, { minLength: 1 }).map((lines) => lines.join('\n'))
    const event = fc.record({ data, event: name, id }, { requiredKeys: ['data'], noNullPrototype: true })
    fc.assert(
      fc.property(fc.array(event), (events) => {
        expect(frames('sse', events.map((one) => encodeFrame('sse', one)).join(''))).toStrictEqual(events)
      }),
    )
  })
})

/** The units of a frame that its limit counts. */
function encodedLength(frame: ReturnType<typeof frames>[number]): number {
  if (typeof frame === 'string') return frame.length
  return frame.data.length + (frame.event?.length ?? 0) + (frame.id?.length ?? 0)
}
