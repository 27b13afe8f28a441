import { expect, test } from 'vitest'
import { isJsonSchema } from '../../src/codec-kit/index.ts'

test.each([
  [{}, true],
  [{ type: 'object', properties: { a: { type: 'banana' } } }, true],
  [{ type: ['string', 'null'] }, true],
  [{ type: 'OBJECT' }, true],
  [{ $ref: '#/definitions/a' }, true],
  [{ type: 'banana' }, false],
  [{ type: ['string', 7] }, false],
  [{ type: null }, false],
  [['object'], false],
  ['object', false],
  [true, false],
  [null, false],
])('%j can be a schema: %s', (value, holds) => {
  expect(isJsonSchema(value)).toBe(holds)
})
