import { describe, expect, test } from 'vitest'
import { missed } from '../../src/engine/session/detours.ts'
import type { Message } from '../../src/model/index.ts'

const said = (text: string, at?: number): Message => ({
  role: 'user',
  parts: [{ type: 'text', text }],
  ...(at !== undefined && { at }),
})

describe('an agent gets', () => {
  const others = [said('a', 1), said('c', 3), said('e', 5)]
  test.each<[own: Message[], whole: boolean, texts: string]>([
    [[], false, 'ace'],
    [[said('b', 2), said('d', 4)], false, 'e'],
    [[said('b', 2), said('d', 4)], true, 'abcde'],
    [[said('undated')], false, 'ace'],
  ])('after %j, the whole: %s', (own, whole, texts) => {
    const told = missed(own, others, whole)
    expect(told.map(({ parts: [part] }) => (part as { text: string }).text).join('')).toBe(texts)
  })
})
