import { expect, test } from 'vitest'
import { withInstruction } from '../../src/codec-kit/index.ts'

test('a system prompt goes before the text, under headings', () => {
  expect(withInstruction('Be brief.', 'Hello')).toBe('System instruction:\nBe brief.\n\nUser message:\nHello')
})
