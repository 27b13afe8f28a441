import { expect, test } from 'vitest'
import { traceIdOf } from '../../src/contract/index.ts'

test.each([
  [undefined, undefined],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '0af7651916cd43dd8448eb211c80319c'],
  ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', undefined],
  ['00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01', undefined],
  ['<img src=x>', undefined],
])('the trace of %s is %s', (traceparent, id) => {
  expect(traceIdOf({ traceparent })).toBe(id)
})
