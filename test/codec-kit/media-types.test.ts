import { describe, expect, test } from 'vitest'
import { isJsonType, isLinesType, isLineType, refusesBody } from '../../src/codec-kit/index.ts'
import type { FrontContext, FrontPorts } from '../../src/contract/index.ts'

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

test.each([
  ['http', 'text/plain', true],
  ['http', 'application/x-ndjson', false],
  ['stdio', 'text/plain', false],
] as const)('a body over %s of the type %s is refused: %s', (transport, type, refused) => {
  const faults: unknown[] = []
  const ports = { fault: (...all) => void faults.push(all) } as FrontPorts
  expect(refusesBody({ transport, headers: { 'content-type': type } } as unknown as FrontContext, ports)).toBe(refused)
  const found = expect.objectContaining({ code: 'invalid-request' })
  expect(faults).toEqual(refused ? [[found, 'continues', undefined, 415]] : [])
})
