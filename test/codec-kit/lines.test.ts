import { expect, test } from 'vitest'
import { messageLine } from '../../src/codec-kit/index.ts'

test('entries without a value are left out', () => {
  expect(
    messageLine([
      ['type', '"a"'],
      ['id', undefined],
      ['n', '1.50'],
    ]),
  ).toBe('{"type":"a","n":1.50}')
})

test('extra members follow the entries, as they came and in order', () => {
  expect(messageLine([['type', '"a"']], '{ "x" : 1e2 , "__proto__":{"y": 2},"x":3}')).toBe(
    '{"type":"a","x":1e2,"__proto__":{"y": 2},"x":3}',
  )
})

test('an extra member replaces no entry that is written', () => {
  expect(
    messageLine(
      [
        ['type', '"a"'],
        ['id', undefined],
      ],
      '{"type":"b","id":7}',
    ),
  ).toBe('{"type":"a","id":7}')
})

test('a replaceable entry gives way to the last extra member of its name and keeps its place', () => {
  expect(
    messageLine(
      [
        ['type', '"a"'],
        ['at', '1'],
        ['text', '"t"'],
      ],
      '{"type":"b","at":2,"more":true,"at":3}',
      new Set(['at', 'level']),
    ),
  ).toBe('{"type":"a","at":3,"text":"t","more":true}')
})

test('a message is one line for every reader', () => {
  expect(messageLine([['a', '[1,\n2]']], '{"b":"\u2028"}')).toBe('{"a":[1, 2],"b":"\\u2028"}')
})
