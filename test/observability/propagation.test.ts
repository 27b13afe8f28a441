import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatTraceparent,
  LIMITS,
  parseTraceparent,
  readBaggage,
  readCarrier,
  readTracestate,
} from '../../observability/propagation.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('traceparent', () => {
  const taken: [string, string, string][] = [
    ['sampled', `00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    ['other flags of version 00 stay', `00-${TRACE}-${SPAN}-03`, `00-${TRACE}-${SPAN}-03`],
    ['blanks around it', ` \t00-${TRACE}-${SPAN}-01 `, `00-${TRACE}-${SPAN}-01`],
    ['a later version as 00', `cc-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    ['a later version with more fields', `01-${TRACE}-${SPAN}-01-what-the-future-holds`, `00-${TRACE}-${SPAN}-01`],
    ['unknown flags of a later version go', `fe-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-01`],
  ]
  test.each(taken)('is taken: %s', (_name, traceparent, handedOn) => {
    expect(readCarrier({ traceparent })).toEqual({ traceparent: handedOn })
  })

  const refused: [string, string][] = [
    ['empty', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['more fields in version 00', `00-${TRACE}-${SPAN}-01-more`],
    ['a dash at the end of version 00', `00-${TRACE}-${SPAN}-01-`],
    ['a dot behind a later version', `cc-${TRACE}-${SPAN}-01.more`],
    ['zero trace id', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['zero span id', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper-case digits', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['long span id', `00-${TRACE}-${SPAN}0-01`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['one digit of flags', `00-${TRACE}-${SPAN}-1`],
    ['not hexadecimal', `00-${TRACE}-${SPAN}-0g`],
    ['a line feed', `00-${TRACE}-${SPAN}-01\n`],
    ['two joined by a comma', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ]
  test.each(refused)('is refused, and the tracestate with it: %s', (_name, traceparent) => {
    expect(readCarrier({ traceparent, tracestate: 'a=1' })).toEqual({})
  })

  test('comes from headers, repeated headers and the environment', () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`
    expect(readCarrier({ traceparent: [traceparent] })).toEqual({ traceparent })
    expect(readCarrier({ traceparent: [traceparent, traceparent] })).toEqual({})
    expect(readCarrier({ TRACEPARENT: traceparent, TRACESTATE: 'a=1', BAGGAGE: 'b=2' })).toEqual({
      traceparent,
      tracestate: 'a=1',
    })
    expect(readCarrier({})).toEqual({})
  })

  test('reads back what it wrote', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
    fc.assert(
      fc.property(hex(32), hex(16), fc.nat(255), (traceId, spanId, flags) => {
        fc.pre(!/^0+$/.test(traceId) && !/^0+$/.test(spanId))
        expect(parseTraceparent(formatTraceparent({ traceId, spanId, flags }))).toEqual({
          version: '00',
          traceId,
          spanId,
          flags,
        })
      }),
    )
  })
})

describe('tracestate', () => {
  const table: [string, string, string | undefined][] = [
    ['one member', 'rojo=00f067aa0ba902b7', 'rojo=00f067aa0ba902b7'],
    ['blanks and empty members', ' a=1 ,, \t b=2 ', 'a=1,b=2'],
    ['a tenant', '0t61@n-v=x', '0t61@n-v=x'],
    ['blanks within a value', 'a=1 2', 'a=1 2'],
    ['the most members', members(32), members(32)],
    ['one member more', members(33), undefined],
    ['a key twice', 'a=1,b=2,a=3', undefined],
    ['no value', 'a=,b=2', undefined],
    ['no key', '=1', undefined],
    ['no equals sign', 'a', undefined],
    ['an upper-case key', 'A=1', undefined],
    ['an equals sign in a value', 'a=1=2', undefined],
    ['a control character', 'a=1\u0007', undefined],
    ['a character outside ASCII', 'a=ü', undefined],
    ['a key of 257 characters', `${'k'.repeat(257)}=1`, undefined],
    ['a value of 257 characters', `a=${'v'.repeat(257)}`, undefined],
    ['nothing', '', undefined],
    ['only commas', ',,', undefined],
    ['more than is looked at', `a=1,${' '.repeat(LIMITS.rawLength)}`, undefined],
  ]
  test.each(table)('%s', (_name, raw, handedOn) => {
    expect(readTracestate(raw)).toBe(handedOn)
  })

  test('that is too long loses long members first, then the last ones', () => {
    const long = `long=${'x'.repeat(200)}`
    const short = Array.from({ length: 10 }, (_, index) => `k${index}=${'y'.repeat(47)}`)
    // Ten members of 50 characters and nine commas are 509.
    expect(readTracestate([long, ...short].join(','))).toBe(short.join(','))
    expect(readTracestate([...short, 'last=1'].join(','))).toBe(short.join(','))
    const three = [`a=${'x'.repeat(200)}`, `b=${'x'.repeat(200)}`, `c=${'x'.repeat(200)}`]
    expect(readTracestate(three.join(','))).toBeUndefined()
  })

  test('in several headers is one list', () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`
    expect(readCarrier({ traceparent, tracestate: ['a=1', 'b=2'] })).toEqual({ traceparent, tracestate: 'a=1,b=2' })
  })
})

describe('baggage', () => {
  const table: [string, string, string | undefined][] = [
    ['members with properties', 'user=42;secure;ttl=5, team = red ', 'user=42;secure;ttl=5,team = red'],
    ['an empty value', 'a=', 'a='],
    ['bad members go alone', 'a=1,b c=2,c="x",d=4', 'a=1,d=4'],
    ['a line feed in the middle', 'a=1\r\nX-Injected: yes,b=2', 'b=2'],
    ['the most members', members(64), members(64)],
    ['more members', members(70), members(64)],
    ['nothing that is well formed', 'a', undefined],
    ['more than is looked at', 'a=1,'.repeat(LIMITS.rawLength / 4 + 1), undefined],
  ]
  test.each(table)('%s', (_name, raw, handedOn) => {
    expect(readBaggage(raw)).toBe(handedOn)
  })

  test('of the greatest length is kept, one character more is cut to whole members', () => {
    const fits = `a=1,b=${'x'.repeat(8192 - 6)}`
    expect(fits.length).toBe(8192)
    expect(readBaggage(fits)).toBe(fits)
    expect(readBaggage(`${fits}x`)).toBe('a=1')
  })

  test('is read only when asked for, with or without a trace', () => {
    const source = { traceparent: `00-${TRACE}-${SPAN}-00`, baggage: 'tenant=acme' }
    expect(readCarrier(source)).toEqual({ traceparent: source.traceparent })
    expect(readCarrier(source, { baggage: true })).toEqual(source)
    expect(readCarrier({ BAGGAGE: 'tenant=acme' }, { baggage: true })).toEqual({ baggage: 'tenant=acme' })
  })
})

describe('whatever is sent', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(...'abz019=,; \t-_@*/\r\n"\\ü'), maxLength: 400 }),
    fc.array(fc.string({ unit: fc.constantFrom(...'ab1=,; '), maxLength: 300 }), { maxLength: 40 }),
    fc.array(fc.stringMatching(/^[a-z]{1,6}=[a-z0-9 ]{0,280}[a-z]$/), { maxLength: 90 }).map((list) => list.join(',')),
  )
  const source = fc.record({
    traceparent: fc.oneof(hostile, fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-x)?$/)),
    tracestate: hostile,
    baggage: hostile,
  })

  test('what is handed on is printable ASCII within the limits, and reads as itself', () => {
    fc.assert(
      fc.property(source, (sent) => {
        const carrier = readCarrier(sent, { baggage: true })
        expect(carrier.traceparent ?? '').toMatch(/^(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})?$/)
        expect(carrier.tracestate ?? '').toMatch(/^[\x20-\x7e]{0,512}$/)
        expect(carrier.baggage ?? '').toMatch(/^[\x20-\x7e\t]{0,8192}$/)
        expect(carrier.tracestate === undefined || carrier.traceparent !== undefined).toBe(true)
        expect(readCarrier({ ...carrier }, { baggage: true })).toEqual(carrier)
      }),
      { numRuns: 1000 },
    )
  })
})

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `k${index}=${index}`).join(',')
}
