import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readChatUsage } from '../../src/codec-kit/index.ts'
import type { Loss } from '../../src/model/index.ts'

function read(json: unknown): { usage: unknown; lost: string[] } {
  const lost: Loss[] = []
  const usage = readChatUsage(json, (loss) => lost.push(loss))
  return { usage, lost: lost.map(({ kind, item, field, why }) => `${kind} ${item} ${field} ${why}`) }
}

test.each([
  [
    { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    { input: 5, output: 2, total: 7 },
  ],
  [
    { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } },
    { input: 5, cacheRead: 3 },
  ],
  [
    { completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 4 } },
    { output: 5, reasoning: 4 },
  ],
  [
    { prompt_tokens: 5, cached_tokens: 2 },
    { input: 5, cacheRead: 2 },
  ],
  [
    { prompt_tokens: 5, prompt_cache_hit_tokens: 2, prompt_cache_miss_tokens: 3 },
    { input: 5, cacheRead: 2 },
  ],
  [
    { prompt_tokens: 5, completion_tokens: 0 },
    { input: 5, output: 0 },
  ],
  [{ prompt_tokens: null, completion_tokens: 1 }, { output: 1 }],
  [{ prompt_tokens: 1, prompt_tokens_details: null, completion_tokens_details: [] }, { input: 1 }],
])('the usage of %j is %j', (json, usage) => {
  expect(read(json)).toEqual({ usage, lost: [] })
})

test('the details tell more of the cache than the names of single servers', () => {
  const json = {
    prompt_tokens: 9,
    cached_tokens: 1,
    prompt_cache_hit_tokens: 2,
    prompt_tokens_details: { cached_tokens: 3 },
  }
  expect(read(json).usage).toEqual({ input: 9, cacheRead: 3 })
})

test.each([
  [undefined],
  [null],
  ['5'],
  [[]],
  [{}],
  [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } }],
])('%j counts nothing', (json) => {
  expect(read(json)).toEqual({ usage: undefined, lost: [] })
})

test('what is no count is lost, and the others are kept', () => {
  fc.assert(
    fc.property(fc.constantFrom(-1, 1.5, '5', true, 1e13, Number.NaN, {}), (wrong) => {
      expect(read({ prompt_tokens: wrong, completion_tokens: 2 })).toEqual({
        usage: { output: 2 },
        lost: ['dropped usage.input prompt_tokens precision'],
      })
    }),
  )
})
