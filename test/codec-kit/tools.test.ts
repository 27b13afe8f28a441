import { expect, test } from 'vitest'
import { isDropped } from '../../src/codec-kit/index.ts'
import type { ToolView } from '../../src/model/index.ts'

const text = { type: 'text', text: 'x' }

test.each([
  [{ called: false, parts: [], status: 'cancelled' }, true],
  [{ called: false, parts: [], status: 'error' }, true],
  [{ called: false, parts: [], status: 'ok' }, false],
  [{ called: false, parts: [text], status: 'error' }, false],
  [{ called: true, parts: [], status: 'cancelled' }, false],
])('%j', (tool, dropped) => {
  expect(isDropped(tool as unknown as ToolView)).toBe(dropped)
})
