import { describe, expect, test } from 'vitest'
import { isJsonType, isLinesType, isLineType } from '../../src/codec-kit/index.ts'

describe('a content type may be', () => {
  test.each([
    [undefined, true, true],
    ['', true, true],
    ['application/json', true, true],
    [' Application/JSON; charset=utf-8', true, true],
    ['application/problem+json', true, false],
    ['application/x-ndjson', false, true, true],
    ['application/jsonl;charset=utf-8', false, true],
    ['application/json-seq', false, false],
    ['text/plain', false, false],
    ['text/plain; application/json', false, false],
  ] as readonly [string | undefined, boolean, boolean, boolean?][])('%s', (type, json, lines, line = json) => {
    expect([isJsonType(type), isLinesType(type), isLineType(type)]).toEqual([json, lines, line])
  })
})
