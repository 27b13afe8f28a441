import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlainDeltas, valuesOf } from '../../src/codec-kit/index.ts'
import { messagePattern } from '../../src/model/index.ts'

/** Counts how often the pattern is tried. */
class Counted extends RegExp {
  tried = 0

  override exec(text: string): RegExpExecArray | null {
    this.tried += 1
    return super.exec(text)
  }
}

const SHAPE = '{"type":*[,"seq":#],"of":{"text":*}}'
const CHANGING = valuesOf('seq')

/** Reads messages in order: the text and type of each, and whether the pattern was needed. */
function read(...messages: readonly string[]): (readonly [text: string | undefined, type: string, tried: boolean])[] {
  const pattern = new Counted(messagePattern(SHAPE).source)
  const deltas = new PlainDeltas(pattern, CHANGING)
  return messages.map((message) => {
    pattern.tried = 0
    const text = deltas.textIn(message)
    return [text, deltas.strings[1] ?? '', pattern.tried > 0]
  })
}

const message = (text: string, type = 'a', seq?: number): string => JSON.stringify({ type, seq, of: { text } })

describe('deltas of one type', () => {
  test('are read by the pattern, and from the third on by the text around them', () => {
    expect(read(message('one'), message('two'), message('three'), message('é😀'))).toEqual([
      ['one', 'a', true],
      ['two', 'a', true],
      ['three', 'a', false],
      ['é😀', 'a', false],
    ])
  })

  test('may differ in what changes', () => {
    const read3 = read(message('one', 'a', 8), message('two', 'a', 9), message('three', 'a', 10))
    expect(read3.at(-1)).toEqual(['three', 'a', false])
  })

  test('may have escapes', () => {
    expect(read(message('one'), message('two'), message('a"b\\\n\u0001')).at(-1)).toEqual(['a"b\\\n\u0001', 'a', false])
  })

  test('may have spaces', () => {
    const spaced = (text: string): string => `{"type": "a", "of": {"text": "${text}"}}`
    expect(read(spaced('one'), spaced('two'), spaced('three')).at(-1)).toEqual(['three', 'a', false])
  })
})

test('a delta of another type has its own strings, and those of the first are as they were', () => {
  expect(read(message('1'), message('2'), message('3', 'b'), message('4', 'b'), message('5'))).toEqual([
    ['1', 'a', true],
    ['2', 'a', true],
    ['3', 'b', true],
    ['4', 'b', false],
    ['5', 'a', true],
  ])
})

test('an empty text changes nothing of what is known', () => {
  expect(read(message('1'), message('2'), message('', 'b'), message('3')).slice(2)).toEqual([
    ['', 'b', true],
    ['3', 'a', false],
  ])
})

test('any other message is none, and changes nothing', () => {
  expect(read('', '{}', message('1'), message('2'), 'x', '{"type":"a"}', message('3'))).toEqual([
    [undefined, '', true],
    [undefined, '', true],
    ['1', 'a', true],
    ['2', 'a', true],
    [undefined, 'a', true],
    [undefined, 'a', true],
    ['3', 'a', false],
  ])
})

test('after eight different ones, others are read by the pattern alone', () => {
  const types = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  const all = types.map((type) => message('x', type))
  expect(read(...all, message('y', 'i')).at(-1)).toEqual(['y', 'i', true])
  expect(read(...all, message('y', 'h')).at(-1)).toEqual(['y', 'h', false])
})

test('what is read by the text around it is what JSON says', () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom('a"b', '\\', '\n', '}', '","text":"', '\u2028', '\ud800'))
  const edits = fc.array(fc.tuple(fc.nat(60), fc.constantFrom('', '"', '\\', '}', ' ', '1', 'x', ',')), {
    maxLength: 2,
  })
  fc.assert(
    fc.property(texts, fc.nat(), edits, (text, seq, changes) => {
      const plain = message(text, 'a', seq)
      const edited = changes.reduce((json, [at, unit]) => json.slice(0, at) + unit + json.slice(at + 1), plain)
      for (const said of [plain, edited]) {
        const [found, type] = read(message('1', 'a', 1), message('2', 'a', 2), said).at(-1)!
        if (found === undefined) continue
        const { seq: _, ...value } = JSON.parse(said)
        expect(value).toEqual({ type, of: { text: found } })
      }
    }),
  )
})

test('deltas in a row are read once one of them is known', () => {
  const deltas = new PlainDeltas(messagePattern(SHAPE), CHANGING)
  const text = ['c', 'd'].map((piece, seq) => `${message(piece, 'a', seq)}\n`).join('')
  const wire = { text, at: 0, before: '', after: '\n', call: undefined }
  expect([deltas.known, deltas.textsIn(wire), wire.at]).toEqual([undefined, [], 0])
  for (const piece of ['x', 'y']) deltas.textIn(message(piece, 'a', 7))
  expect([deltas.known?.[1], deltas.textsIn(wire), wire.at]).toEqual(['a', ['c', 'd'], text.length])
})
