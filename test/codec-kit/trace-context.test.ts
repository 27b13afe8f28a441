import { describe, expect, test } from 'vitest'
import { metaWith, readTrace, untraced } from '../../src/codec-kit/index.ts'

const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
const later = `cc-${'1'.repeat(32)}-${'2'.repeat(16)}-01-more`

describe('the trace context of a message', () => {
  test.each([
    [{ traceparent }, { traceparent }],
    [{ traceparent: later }, { traceparent: later }],
    [
      { traceparent, tracestate: 'a=1,b=2', baggage: 'c=3', other: 4 },
      { traceparent, tracestate: 'a=1,b=2', baggage: 'c=3' },
    ],
    [{ traceparent, tracestate: '', baggage: 'a=\n' }, { traceparent }],
    [{ traceparent, tracestate: 7, baggage: 'x'.repeat(8193) }, { traceparent }],
    [{ tracestate: 'a=1', baggage: 'c=3' }, undefined],
    [{ traceparent: traceparent.toUpperCase().replaceAll('1', 'A') }, undefined],
    [{ traceparent: `${traceparent}\n` }, undefined],
    [{ traceparent: `${later}\0` }, undefined],
    [{ traceparent: 7 }, undefined],
    [[traceparent], undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%j is read as %j', (meta, trace) => {
    expect(readTrace(meta)).toEqual(trace)
  })

  test.each([
    [undefined, undefined],
    ['{"a":1}', '{"a":1}'],
    [`{"_meta":{"traceparent":"x"}}`, undefined],
    [`{"_meta":{"traceparent":"x","k":1.0},"a":2}`, '{"a":2,"_meta":{"k":1.0}}'],
    [`{"a":2,"_meta":{"tracestate":"x","baggage":"y"}}`, '{"a":2}'],
  ])('is left out of %s', (json, kept) => {
    const ext = (text: string | undefined) => (text === undefined ? undefined : { protocol: 'p', json: text })
    expect(untraced(ext(json))).toEqual(ext(kept))
  })

  test.each([
    [{}, undefined, undefined],
    [{ tracestate: 'a=1' }, '{"k":1}', '{"k":1}'],
    [{ traceparent }, undefined, `{"traceparent":"${traceparent}"}`],
    [
      { traceparent, tracestate: 'a=1', baggage: 'b="2"' },
      '{"baggage":"old","k":1.0}',
      `{"k":1.0,"traceparent":"${traceparent}","tracestate":"a=1","baggage":"b=\\"2\\""}`,
    ],
    [{ traceparent }, 'null', `{"traceparent":"${traceparent}"}`],
  ])('%j is written beside %s', (trace, other, meta) => {
    expect(metaWith(trace, other)).toBe(meta)
  })
})
