import { describe, expect, test } from 'vitest'
import { approvalOf, responseOf, turnOfItem } from '../../../../codecs/openai/responses/ids.ts'
import { parkedCallOf } from '../../../../src/codec-kit/index.ts'

/** About as long as a body may be. */
const LONG = 10 * 1024 * 1024

const READERS: Readonly<Record<string, readonly [(id: string) => unknown, string, string]>> = {
  response: [responseOf, 'resp_', ''],
  item: [turnOfItem, 'msg_', '_i0'],
  call: [parkedCallOf, 'call_', '_n0'],
  approval: [approvalOf, 'mcpr_a_db_n0', '_ob'],
}

describe.each(Object.entries(READERS))('the id of a %s', (_, [read, before, after]) => {
  // A power of the length would take hours.
  test.each(['_o', '_u', 'a'])('may be as long as a body, whatever there is much of in it: %s', (part) => {
    const id = `${before}${part.repeat(LONG / part.length)}${after}`
    for (const one of [id, `${id}!`]) expect(() => read(one)).not.toThrow()
  })
})

test.each(['resp_a_b', 'resp_a_', 'respx_a'])('%s is the id of no response', (id) => {
  expect(responseOf(id)).toBeUndefined()
})

test.each(['msg_a_b_i0', 'msg_a', 'msg_a_i'])('%s is the id of no item', (id) => {
  expect(turnOfItem(id)).toBeUndefined()
})

test.each([
  ['oyes_u1', undefined],
  ['o-5f-', '_'],
  ['o-10ffff-', '\u{10ffff}'],
  ['o-110000-', '-110000-'],
  ['o-ffffffff-', '-ffffffff-'],
])('the option of an approval is written %s', (written, option) => {
  expect(approvalOf(`mcpr_t_dx_n0_${written}_on`)?.allow).toBe(option)
})
