import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  append,
  asJson,
  hasLineEnd,
  isRecord,
  member,
  members,
  messagePattern,
  object,
  pairsOf,
  parse,
  parseObject,
  quote,
  rest,
} from '../../src/model/index.ts'

const key = fc.constantFrom('a', 'b', 'c', 'é"\\', '__proto__', 'constructor', '')
const value = fc.constantFrom('1', '1.0', '1e400', '12345678901234567890', '"x"', '"}"', '{"a":[1,{}]}', '[]', 'null')
const entries = fc.array(fc.tuple(key, value))

describe('an object of raw members', () => {
  test('has them as they were, in their order, also repeated ones', () => {
    fc.assert(
      fc.property(entries, (given) => {
        expect(members(object(given))).toEqual(given)
      }),
    )
  })

  test('leaves those without a value out', () => {
    expect(object([['a', undefined]])).toBe('{}')
    expect(
      object([
        ['a', undefined],
        ['b', '1'],
        ['c', undefined],
      ]),
    ).toBe('{"b":1}')
    expect(object({ a: undefined, b: '1', c: undefined })).toBe('{"b":1}')
  })

  test('has the members of an object as those of its pairs', () => {
    fc.assert(
      fc.property(fc.dictionary(key, fc.option(value, { nil: undefined })), (given) => {
        expect(object(given)).toBe(object(Object.entries(given)))
        expect([...pairsOf(given)]).toEqual(Object.entries(given))
      }),
    )
  })

  test('has the groups one after the other', () => {
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        expect(object(one, {}, other)).toBe(object([...one, ...other]))
      }),
    )
    expect(object({ a: '1' }, [['a', '2']], { a: undefined, b: '3' })).toBe('{"a":1,"a":2,"b":3}')
  })
})

describe('a member', () => {
  test('is the last one of its name, as a parser has it', () => {
    fc.assert(
      fc.property(entries, key, (given, name) => {
        const last = given.filter(([one]) => one === name).at(-1)?.[1]
        expect(member(object(given), name)).toBe(last)
      }),
    )
  })

  test.each(['', '[]', '[{"a":1}]', '"a"', 'null', '1'])('is not in %j', (json) => {
    expect(member(json, 'a')).toBeUndefined()
    expect(members(json)).toEqual([])
  })

  test('is found after white space and a byte order mark', () => {
    expect(member('\ufeff \n\t{ "a" : [ 1 ] }', 'a')).toBe('[ 1 ]')
  })

  test('is found by its decoded name', () => {
    expect(member(String.raw`{"\u0061":1,"b\"":2}`, 'a')).toBe('1')
    expect(member(String.raw`{"\u0061":1,"b\"":2}`, 'b"')).toBe('2')
  })
})

describe('the rest of an object', () => {
  test('and the known members are all of it', () => {
    fc.assert(
      fc.property(entries, fc.uniqueArray(key), (given, names) => {
        const known = new Set(names)
        const json = object(given)
        const left = rest(json, known)
        const unknown = given.filter(([name]) => !known.has(name))
        expect(left === undefined ? [] : members(left)).toEqual(unknown)
        expect(left === undefined).toBe(unknown.length === 0)
      }),
    )
  })
})

describe('appended members', () => {
  test('follow those that are there', () => {
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        expect(members(append(object(one), object(other)))).toEqual([...one, ...other])
      }),
    )
  })

  test.each([
    ['{"a":1}', undefined, '{"a":1}'],
    ['{"a":1}', '{}', '{"a":1}'],
    ['{"a":1}', ' { } ', '{"a":1}'],
    ['{}', '{"b":2}', '{"b":2}'],
    [' {"a":1 } ', ' { "b":2 } ', '{"a":1,"b":2}'],
  ])('to %j of %j give %j', (json, extra, all) => {
    expect(append(json, extra)).toBe(all)
  })
})

describe('text that may be JSON', () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    ['12', '12'],
    ['', '""'],
    ['*** Begin Patch', '"*** Begin Patch"'],
    ['{"a":', '"{\\"a\\":"'],
    ['NaN', '"NaN"'],
  ])('%j is as JSON %j', (given, json) => {
    expect(asJson(given)).toBe(json)
  })

  test('is read without throwing, and an object is none of the others', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        const read = parse(given)
        expect(parseObject(given)).toBe(isRecord(read) ? parseObject(given) : undefined)
      }),
    )
    expect(parseObject('{"a":1}')).toEqual({ a: 1 })
    for (const other of ['[]', 'null', '1', '"{}"', '{', '']) expect(parseObject(other)).toBeUndefined()
    expect([isRecord({}), isRecord([]), isRecord(null), isRecord('x'), isRecord(undefined)]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })

  test('has a line end when there is a CR or an LF, and at no other separator', () => {
    expect(['a\n', '\ra', 'a\r\nb'].map(hasLineEnd)).toEqual([true, true, true])
    expect(['', 'a', 'a\u2028\u0085\u000bb'].map(hasLineEnd)).toEqual([false, false, false])
  })
})

describe('the pattern of a message', () => {
  const pattern = messagePattern('{"type":"delta","n":#[,"id":*],"text":*}')

  test.each([
    ['{"type":"delta","n":1,"text":"a"}', [undefined, 'a']],
    ['{"type":"delta", "n": 0, "text": ""}', [undefined, '']],
    ['{"type":"delta","n":12,"id":"x","text":"é😀"}', ['x', 'é😀']],
    ['{"type":"delta","n":1,"text":"\u2028"}', [undefined, '\u2028']],
  ])('takes %j', (line, found) => {
    expect(pattern.exec(line)?.slice(1)).toEqual(found)
  })

  test.each([
    '{"type":"delta","n":01,"text":"a"}',
    '{"type":"delta","n":1.5,"text":"a"}',
    '{"type":"delta","n":-1,"text":"a"}',
    '{"type":"delta","n":1,"text":"a\\n"}',
    '{"type":"delta","n":1,"text":"a\tb"}',
    '{"type":"delta","n":1,"text":"a","more":1}',
    '{"type":"other","n":1,"text":"a"}',
    '{"type":"delta","n":1,"text":"a"} ',
    '{"type":"delta","n":1,"text":"a"b"}',
  ])('leaves %j to the parser', (line) => {
    expect(pattern.test(line)).toBe(false)
  })

  test('takes only JSON that says the same to a parser', () => {
    const piece = fc.constantFrom('"', '\\', 'a', 'é', '}', ',', ' ', '\u0001', '\n', '\ud83d')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const inner = pieces.join('')
        const line = `{"type":"delta","n":1,"text":"${inner}"}`
        const found = pattern.exec(line)
        if (found) expect(JSON.parse(line)).toEqual({ type: 'delta', n: 1, text: found[2] })
        const plain = `{"type":"delta","n":1,"text":${quote(inner)}}`
        if (!plain.includes('\\')) expect(pattern.exec(plain)?.[2]).toBe(inner)
      }),
    )
  })
})
