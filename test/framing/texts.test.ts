/** A sink may read frames like the last one from the text that they stand in. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Frame, frameText, type WireText } from '../../src/contract/index.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import type { Fault } from '../../src/model/index.ts'
import { decode, recorder, type Said } from './collect.ts'

/** Reads repetitions of a frame by itself. */
class Repeating {
  readonly said: Said[]
  readonly #sink = recorder()
  /** The number of frames that it has read by itself. */
  own = 0
  #last: Frame | undefined

  constructor() {
    this.said = this.#sink.said
  }

  frame(frame: Frame): void {
    const last = typeof frame === 'string' ? frame : { ...frame }
    if (typeof last !== 'string') delete last.id
    this.#last = last
    this.#sink.frame(frame)
  }

  fault(fault: Fault): void {
    this.#sink.fault(fault)
  }

  texts(wire: WireText): void {
    // Blank lines before the first frame are no frames.
    if (this.#last === undefined) return
    const frame = `${wire.before}${frameText(this.#last)}${wire.after}`
    while (wire.text.startsWith(frame, wire.at)) {
      wire.at += frame.length
      this.own += 1
      this.#sink.frame(this.#last)
    }
  }
}

function read(framing: 'sse' | 'ndjson', chunks: readonly string[], limit = 1_000_000): Repeating {
  const sink = new Repeating()
  const decoder = frameDecoder(framing, limit, sink)
  for (const chunk of chunks) decoder.push(chunk)
  decoder.end()
  return sink
}

describe('frames like the last one', () => {
  test('may be read by the sink, up to another one', () => {
    const [one, other] = ['event: x\ndata: 1\n\n', 'event: y\ndata: 1\n\n']
    const { said, own } = read('sse', [one.repeat(3), `${one.repeat(2)}${other.repeat(2)}data: 1\n\ndata: 1\n\nid`])
    const frames = ['x', 'x', 'x', 'x', 'x', 'y', 'y', undefined, undefined].map((event) => ({
      frame: { data: '1', ...(event !== undefined && { event }) },
    }))
    expect([said, own]).toEqual([frames, 5])
    expect(read('ndjson', ['1\n1\n1\n2\n', '2\n2\n']).own).toBe(3)
  })

  test('are the same for every text and any split of it', () => {
    const pieces = [
      ...[
        'data: a\n\n',
        'data: a\n\n',
        'event: x\ndata: a\n\n',
        'event: x\ndata: a\n\n',
        'data: a\r\n\r\n',
        'data:a\n\n',
      ],
      ...['id: 1\n', '\n', '\r', 'event: x\n', ': c\n\n', 'a\n', 'data: a\n', 'data: a'],
    ]
    const chunks = fc.array(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((said) => said.join('')))
    for (const framing of ['sse', 'ndjson'] as const) {
      fc.assert(
        fc.property(chunks, fc.constantFrom(5, 8, 30, 1000), (said, limit) => {
          expect(read(framing, said, limit).said).toEqual(decode(framing, said, limit))
        }),
      )
    }
  })
})
