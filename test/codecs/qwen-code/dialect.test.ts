import { expect, test } from 'vitest'
import { codec } from '../../../codecs/qwen/index.ts'
import { dialect } from '../../../codecs/qwen-code/index.ts'
import type { BackContext } from '../../../src/contract/index.ts'

const rfc = codec.dialects['rfc']!

const contextOf = (args?: string[]): BackContext<never> => ({
  options: undefined as never,
  agent: 'a',
  env: {},
  folder: '/',
  process: { command: 'qwen', ...(args && { args }), env: {}, cwd: '/' },
})

test.each([
  [undefined, 'resumed'],
  [[], 'resumed'],
  [['--model', 'm'], 'resumed'],
  [['--session-id', 's'], 'named'],
  [['--resume=s'], 'named'],
  [['-c'], 'named'],
])('the memory of an agent with the arguments %j is %s', (args, memory) => {
  expect(dialect.back!.memory!(contextOf(args))).toBe(memory)
  expect(rfc.back!.memory!(contextOf(args))).toBe('process')
})

test('the configured model is that of the last argument that names one', () => {
  for (const one of [dialect, rfc]) {
    expect(one.back!.configuredModel!(contextOf(['-m', 'a', '--model=b']))).toBe('b')
    expect(one.back!.configuredModel!(contextOf())).toBeUndefined()
  }
})
