import { expect, test } from 'vitest'
import { toolResultParts } from '../../src/codec-kit/index.ts'
import type { Part } from '../../src/model/index.ts'

test.each<[string | undefined, Part[]]>([
  [undefined, []],
  ['""', []],
  ['"a"', [{ type: 'text', text: 'a' }]],
  ['null', []],
  ['[{"type":"text","text":"a"}]', [{ type: 'text', text: 'a' }]],
  [
    '[{"type":"image","text":"a"},{"type":"text"},7, 1.0]',
    ['{"type":"image","text":"a"}', '{"type":"text"}', '7', '1.0'].map((json) => ({ type: 'data', json })),
  ],
])('the content %s of a result of a tool as parts', (json, parts) => {
  expect(toolResultParts(json)).toEqual(parts)
})
