import { expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import type { BackContext } from '../../src/contract/index.ts'

/** The model that an agent is configured for, by its protocol and its arguments. */
test.each([
  ['zot', ['rpc', '--model', 'small', '--model', 'big'], 'big'],
  ['zot', ['rpc', '-m', 'big'], undefined],
  ['zot', ['rpc', '--model'], undefined],
  ['zot', undefined, undefined],
  ['qwen', ['-m', 'big'], 'big'],
  ['qwen-code', ['--model=big=er'], 'big=er'],
  ['qwen-code', ['--models', 'big'], undefined],
] as const)('%s %j', async (name, args, model) => {
  const codec = (await loadCodec(name))!
  const [dialect] = Object.values(codec.dialects)
  const process = { command: name, env: {}, cwd: '/', ...(args && { args }) }
  const context: BackContext<unknown> = { options: {}, agent: 'a', env: {}, folder: '/', process }
  expect(dialect!.back!.configuredModel!(context)).toBe(model)
})
