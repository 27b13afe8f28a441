import { expect, test } from 'vitest'
import { retryAfterMs } from '../../src/codec-kit/index.ts'

const DATE = 'Sun, 29 Nov 2026 05:00:00 GMT'

test.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ 'retry-after': '20' }, 20_000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after-ms': '250', 'retry-after': '20' }, 250],
  [{ 'retry-after': 'Sun, 29 Nov 2026 05:00:30 GMT', date: DATE }, 30_000],
  [{ 'retry-after': 'Sun, 29 Nov 2026 04:59:30 GMT', date: DATE }, undefined],
  [{ 'retry-after': 'Sun, 29 Nov 2026 05:00:30 GMT' }, undefined],
  [{ 'retry-after': 'soon', date: DATE }, undefined],
  [{ 'retry-after': ' ' }, undefined],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': '1e9' }, undefined],
  [{ 'retry-after-ms': 'NaN' }, undefined],
])('of %j is %s', (headers, ms) => {
  expect(retryAfterMs(headers)).toBe(ms)
})
