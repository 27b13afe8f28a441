import { expect, test } from 'vitest'
import { commandText, withInstruction } from '../../src/codec-kit/index.ts'

test('a system prompt goes before the text, under headings', () => {
  expect(withInstruction('Be brief.', 'Hello')).toBe('System instruction:\nBe brief.\n\nUser message:\nHello')
})

test.each([
  [{ kind: 'slash', path: ['memory', 'show'], args: '-v' }, '/memory show -v'],
  [{ kind: 'at', path: ['file.ts'], args: '' }, '@file.ts'],
] as const)('a command is written as its user types it: %j', (command, text) => {
  expect(commandText(command)).toBe(text)
})
