import { expect, test, vi } from 'vitest'
import { ago, clock, cost, count, dateTime, duration, exact, moment, size, zone } from '../../console/logic/format.ts'

test.each([
  [undefined, '–'],
  [0, '0 ms'],
  [999.4, '999 ms'],
  [1_000, '1.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 m 00 s'],
  [245_000, '4 m 05 s'],
  [3_599_600, '1 h 00 m'],
  [7_380_000, '2 h 03 m'],
])('a duration of %s ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  [undefined, '–'],
  [0, '0'],
  [0.25, '0.3'],
  [950, '950'],
  [1_000, '1k'],
  [12_340, '12.3k'],
  [123_400, '123k'],
  [999_949, '1000k'],
  [4_100_000, '4.1M'],
])('a count of %s is %s', (value, text) => {
  expect(count(value)).toBe(text)
})

test.each([
  [undefined, '–'],
  [0, '$0'],
  [0.00123, '$0.0012'],
  [0.01, '$0.010'],
  [0.0237, '$0.024'],
  [12.345, '$12.35'],
])('%s US dollars are %s', (usd, text) => {
  expect(cost(usd)).toBe(text)
})

test.each([
  [812, '812'],
  [12_400, '12.4 k'],
  [9_500_000, '9.5 M'],
])('%s characters are %s', (amount, text) => {
  expect(size(amount)).toBe(text)
})

test('times are local', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime()
  expect([clock(at), dateTime(at)]).toEqual(['03:04:05', '2026-01-02 03:04:05'])
})

test.each([
  [-5_000, '0 s ago'],
  [59_000, '59 s ago'],
  [60_000, '1 min ago'],
  [3_600_000, '1 h ago'],
  [172_800_000, '2 d ago'],
])('what was %s ms before is %s', (ms, text) => {
  expect(ago(1_000_000_000 - ms, 1_000_000_000)).toBe(text)
})

test('a moment of today has its second, one of another day its date', () => {
  const at = new Date(2026, 10, 29, 9, 5, 7).getTime()
  expect(moment(at, at + 3_600_000)).toBe('09:05:07')
  expect(moment(at, at + 86_400_000)).toBe('11-29 09:05')
})

test.each([
  [0, 'UTC'],
  [-60, 'UTC+1'],
  [210, 'UTC-3:30'],
  [-345, 'UTC+5:45'],
])('where the clock is %i minutes away from UTC, the zone is %s', (minutes, text) => {
  const offset = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(minutes)
  expect(zone(0)).toBe(text)
  offset.mockRestore()
})

test('an exact count has all its digits', () => {
  expect([exact(1_234_567), exact(0), exact(undefined)]).toEqual(['1,234,567', '0', 'no'])
})
