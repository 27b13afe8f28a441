import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/config/duration.ts'

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1500],
    ['0.0004s', 0],
    [' 30 s ', 30_000],
    ['250', 250],
    [250, 250],
    [0, 0],
    [1.6, 2],
    ['24d', 2_073_600_000],
    [2_147_483_647, 2_147_483_647],
  ])('reads %j as %d ms', (value, ms) => expect(parseDuration(value)).toBe(ms))

  it.each([
    '',
    's',
    '-1s',
    '1 week',
    '30S',
    '1h30m',
    '1e3',
    '.5s',
    '25d',
    '1,5s',
    '٣s',
    '1constructor',
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2_147_483_648,
    true,
    null,
    undefined,
    [30],
    {},
  ])('refuses %j', (value) => expect(parseDuration(value)).toBeUndefined())

  it('reads back what it writes', () => {
    fc.assert(fc.property(fc.nat(), (ms) => parseDuration(formatDuration(ms)) === ms))
  })
})

describe('parseSize', () => {
  it.each([
    ['16MiB', 16_777_216],
    ['10KiB', 10_240],
    ['5MB', 5_000_000],
    ['5kB', 5000],
    ['5KB', 5000],
    ['1GiB', 1_073_741_824],
    ['2GB', 2_000_000_000],
    ['7B', 7],
    ['0.5KiB', 512],
    ['4096', 4096],
    [4096, 4096],
  ])('reads %j as %d bytes', (value, bytes) => expect(parseSize(value)).toBe(bytes))

  it.each(['', '16mib', '16M', '-1', 'MiB', '99999999999GiB', false, null])('refuses %j', (value) =>
    expect(parseSize(value)).toBeUndefined(),
  )

  it('reads back what it writes', () => {
    fc.assert(fc.property(fc.nat(), (bytes) => parseSize(formatSize(bytes)) === bytes))
  })
})

it.each([
  [0, '0ms'],
  [500, '500ms'],
  [30_000, '30s'],
  [90_000, '90s'],
  [1_800_000, '30m'],
  [86_400_000, '1d'],
])('writes %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

it.each([
  [0, '0B'],
  [1000, '1000B'],
  [10_240, '10KiB'],
  [16_777_216, '16MiB'],
])('writes %d bytes as %s', (bytes, text) => expect(formatSize(bytes)).toBe(text))
