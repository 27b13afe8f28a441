import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DeltaReader, type DeltaWire, type PlainDelta, valuesOf } from '../../src/codec-kit/index.ts'
import { isRecord, type Loss, parseObject } from '../../src/model/index.ts'

const LOSS: Loss = { kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }

/** The full way: a message with a `text` or a `thought`; one with `lost` loses something. */
const WIRE: DeltaWire<PlainDelta> = {
  changing: valuesOf('pad', 'seq'),
  read(message, report) {
    const value = parseObject(message)?.['delta']
    if (!isRecord(value)) return undefined
    const { text, thought, lost } = value
    if (lost !== undefined) report(LOSS)
    if (typeof text === 'string') return { kind: 'text', text }
    return typeof thought === 'string' ? { kind: 'thought', text: thought } : { kind: 'none', text: '' }
  },
  deltaOf: (read) => (read.kind === 'none' ? undefined : read),
  another: ({ kind }, text) => ({ kind, text }),
}

/** A reader that counts what it reads the full way. */
class Counted {
  reads = 0
  readonly losses: Loss[] = []
  readonly #reader: DeltaReader<PlainDelta>

  constructor(wire: DeltaWire<PlainDelta> = WIRE) {
    const read: DeltaWire<PlainDelta>['read'] = (message, report) => {
      this.reads += 1
      return wire.read(message, report)
    }
    this.#reader = new DeltaReader({ ...wire, read })
  }

  /** Reads a message, and how: by its shape, or the full way. */
  read(message: string): ['shape' | 'full', PlainDelta | undefined] {
    this.reads = 0
    const read = this.#reader.read(message, (loss) => this.losses.push(loss))
    return [this.reads === 0 ? 'shape' : 'full', read]
  }
}

/** The full way alone. */
const full = (message: string): PlainDelta | undefined => WIRE.read(message, () => {})

const message = (text: string, more: object = {}): string => JSON.stringify({ id: 'a', delta: { text }, ...more })

/** A reader that knows the shape of this message. */
function known(message: string, wire?: DeltaWire<PlainDelta>): Counted {
  const reader = new Counted(wire)
  for (const _ of [1, 2]) reader.read(message)
  return reader
}

describe('a shape that is known', () => {
  test.each([
    ['another text', message('one'), message('two'), 'two'],
    ['an escaped text', message('one'), message('"a"\n\\\u0001é\ud800'), '"a"\n\\\u0001é\ud800'],
    ['an escape at its end', message('one'), message('a\\'), 'a\\'],
    ['another number', message('one', { seq: 0 }), message('two', { seq: 10 }), 'two'],
    ['a number after another one', message('one', { seq: 12 }), message('two', { seq: 0 }), 'two'],
    ['other padding', message('one', { pad: 'x' }), message('two', { pad: '' }), 'two'],
    ['a value before the text', '{"seq": 1, "delta": {"text": "one"}}', '{"seq": 22, "delta": {"text": "a"}}', 'a'],
    ['spaces before the end', message('one'), `${message('two').slice(0, -1)}   }`, 'two'],
    ['no spaces before the end', `${message('one').slice(0, -1)}   }`, message('two'), 'two'],
    ['a text that is also a key', message('text'), message('two'), 'two'],
    ['a text that another member has', '{"delta":{"a":"x","text":"x"}}', '{"delta":{"a":"x","text":"y"}}', 'y'],
    ['a text that is learnt from an escape', message('a"b'), message('two'), 'two'],
  ])('reads a delta with %s', (_, learnt, other, text) => {
    expect(known(learnt).read(other)).toEqual(['shape', { kind: 'text', text }])
    expect(full(other)).toEqual({ kind: 'text', text })
  })

  test.each([
    ['another member', message('one'), message('two', { more: 1 })],
    ['another value', message('one'), message('two').replace('"a"', '"b"')],
    ['no text', message('one'), message('')],
    ['an escape that is none', message('one'), '{"id":"a","delta":{"text":"\\x"}}'],
    ['a raw control character', message('one'), '{"id":"a","delta":{"text":"a\tb"}}'],
    ['a string that is not closed', message('one'), '{"id":"a","delta":{"text":"a\\"}}'],
    ['a beginning alone', message('one'), '{"id":"a","delta":{"text":"a"'],
    ['something after its end', message('one'), `${message('two')}}`],
    ['a number that is none', message('one', { seq: 1 }), '{"id":"a","delta":{"text":"b"},"seq":01}'],
    ['no number', message('one', { seq: 1 }), '{"id":"a","delta":{"text":"b"},"seq":}'],
    ['another type of value', message('one', { seq: 1 }), message('two', { seq: null })],
    ['padding with an escape', message('one', { pad: 'x' }), message('two', { pad: 'x\n' })],
    ['nothing', message('one'), ''],
  ])('leaves a message with %s to the full way', (_, learnt, other) => {
    expect(known(learnt).read(other)).toEqual(['full', full(other)])
  })

  test('is that of the last delta that was read the full way', () => {
    const reader = known(message('one'))
    const thought = (said: string): string => JSON.stringify({ delta: { thought: said } })
    expect(reader.read(thought('hm'))).toEqual(['full', { kind: 'thought', text: 'hm' }])
    expect(reader.read(thought('well'))).toEqual(['shape', { kind: 'thought', text: 'well' }])
    expect(reader.read(message('two'))[0]).toBe('full')
    expect(reader.read(message('three'))[0]).toBe('shape')
  })

  test('outlives messages that are no deltas', () => {
    const reader = known(message('one'))
    expect(reader.read('{"delta":{}}')).toEqual(['full', { kind: 'none', text: '' }])
    expect(reader.read('x')).toEqual(['full', undefined])
    expect(reader.read(message('two'))[0]).toBe('shape')
  })
})

test('a wire without values that change has one shape for each of them', () => {
  const { changing: _, ...wire } = WIRE
  const reader = known(message('one', { seq: 1 }), wire)
  expect(reader.read(message('two', { seq: 1 }))[0]).toBe('shape')
  expect(reader.read(message('two', { seq: 2 }))[0]).toBe('full')
})

describe('no shape is known', () => {
  test('after one delta, as an answer may have no other', () => {
    const reader = new Counted()
    for (const text of ['one', 'two']) expect(reader.read(message(text))[0]).toBe('full')
    expect(reader.read(message('three'))[0]).toBe('shape')
  })

  test('after many different ones', () => {
    const reader = new Counted()
    for (const at of [0, 1, 2, 3, 4, 5, 6, 7]) reader.read(message('x', { at }))
    expect(reader.read(message('y', { at: 7 }))[0]).toBe('shape')
    reader.read(message('x', { at: 8 }))
    expect(reader.read(message('y', { at: 8 }))[0]).toBe('full')
  })

  test.each([
    ['the text stands in another form', '{"delta":{"text":"\\u0061"}}'],
    ['the text stands in too many places', '{"a":"x","b":"x","c":"x","delta":{"text":"x"}}'],
    ['something is lost', '{"delta":{"lost":1,"text":"x"}}'],
    ['there is no text', '{"delta":{"text":""}}'],
  ])('where %s', (_, repeated) => {
    expect(known(repeated).read(repeated)).toEqual(['full', full(repeated)])
  })

  test('where another text makes another delta', () => {
    const kindOf = (text: string): string => (text === 'one' ? 'first' : 'other')
    const deltaOf = ({ text }: PlainDelta): PlainDelta => ({ kind: kindOf(text), text })
    expect(known(message('one'), { ...WIRE, deltaOf }).read(message('one'))[0]).toBe('full')
  })
})

test('every loss is reported once', () => {
  const lost = '{"delta":{"lost":1,"text":"x"}}'
  const reader = known(lost)
  reader.read(lost)
  expect(reader.losses).toEqual([LOSS, LOSS, LOSS])
})

test('whatever is read by its shape is what the full way reads', () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom('a"b', '\\', '\n', '}', '","text":"', 'x'.repeat(30)))
  const members = fc.dictionary(fc.constantFrom('id', 'text', 'pad', 'a'), fc.oneof(texts, fc.nat(), fc.constant(null)))
  const edits = fc.array(fc.tuple(fc.nat(120), fc.constantFrom('', '"', '\\', '}', ' ', '1', 'x', ',')), {
    maxLength: 2,
  })
  const written = (more: object, text: string, after: object): string =>
    JSON.stringify({ ...more, delta: { ...more, text }, ...after })
  fc.assert(
    fc.property(members, texts, texts, fc.nat(), fc.nat(), edits, (more, one, two, seq, next, changes) => {
      const reader = known(written(more, one, { seq }))
      const plain = written(more, two, { seq: next })
      expect(reader.read(plain)[1]).toEqual({ kind: 'text', text: two })
      const edited = changes.reduce((json, [at, unit]) => json.slice(0, at) + unit + json.slice(at + 1), plain)
      expect(reader.read(edited)[1]).toEqual(full(edited))
    }),
  )
})

describe('deltas in a row', () => {
  /** Reads what follows two deltas on a wire: the texts, and the rest. */
  function row(learnt: string, text: string, after = '\n'): [texts: string[], rest: string] {
    const reader = new DeltaReader(WIRE)
    for (const _ of [1, 2]) reader.read(learnt, () => {})
    const wire = { text, at: 0, before: '> ', after }
    const texts = reader.textsIn(wire)
    expect(reader.textsIn({ ...wire, before: '' }).length).toBeLessThanOrEqual(texts.length)
    return [texts, text.slice(wire.at)]
  }
  const lines = (...messages: string[]): string => messages.map((line) => `> ${line}\n`).join('')
  const one = (text: string): string => message(text)

  test('are read up to another message', () => {
    const other = lines('{}', one('c'))
    expect(row(one('x'), `${lines(one('a'), one('b'))}${other}`)).toEqual([['a', 'b'], other])
    expect(row(one('x'), other)).toEqual([[], other])
    expect(row(one('x'), '')).toEqual([[], ''])
  })

  test('may have values that change, before and after the text', () => {
    const numbered = (seq: number, text: string) => JSON.stringify({ seq, delta: { text }, pad: 'x'.repeat(seq) })
    expect(row(numbered(1, 'x'), lines(numbered(9, 'a'), numbered(10, 'b')))).toEqual([['a', 'b'], ''])
    const none = lines('{"seq":x,"delta":{"text":"a"},"pad":"x"}')
    expect(row(numbered(1, 'x'), none)).toEqual([[], none])
  })

  test('may have escapes, up to one that is none', () => {
    const texts = ['a"b', '\\', '\n\u2028', 'ü\ud800']
    expect(row(one('x'), lines(...texts.map(one)))).toEqual([texts, ''])
    const rest = lines(one('c').replace('c', '\\x'), one('d'))
    expect(row(one('x'), `${lines(one('a"'), one('b'))}${rest}`)).toEqual([['a"', 'b'], rest])
    expect(row(one('x'), rest)).toEqual([[], rest])
  })

  test('end before an empty text, a line end in one, and one that is not complete', () => {
    for (const end of [one(''), one('b').replace('b', 'b\nb'), one('b').slice(0, -3), one('b').slice(0, -1)]) {
      const rest = `> ${end}\n`
      expect(row(one('x'), `${lines(one('a'))}${rest}`)).toEqual([['a'], rest])
    }
  })

  test('are none before a shape is known, and where its text has line ends', () => {
    const wire = { text: lines(one('a')), at: 0, before: '> ', after: '\n' }
    const reader = new DeltaReader(WIRE)
    expect([reader.textsIn(wire), reader.known]).toEqual([[], undefined])
    const spread = (text: string): string => `{"delta":\n{"text":"${text}"}}`
    expect(row(spread('x'), lines(spread('a')))).toEqual([[], lines(spread('a'))])
  })

  test('say which delta they are like', () => {
    const reader = new DeltaReader(WIRE)
    for (const _ of [1, 2]) reader.read(one('x'), () => {})
    expect(reader.known).toEqual({ kind: 'text', text: 'x' })
  })
})
