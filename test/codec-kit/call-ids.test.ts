import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callIdOf, parkedCallOf, turnOf } from '../../src/codec-kit/index.ts'

const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)

test('a call id holds its park, in characters that the servers of models accept', () => {
  fc.assert(
    fc.property(token, token, fc.nat(9999), fc.constantFrom('call_', 'toolu_'), (turn, secret, at, prefix) => {
      const parked = { continuation: `${turn}.${secret}`, at }
      const id = callIdOf(prefix, parked)
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(parkedCallOf(id)).toEqual(parked)
      expect(turnOf(parked)).toBe(turn)
    }),
  )
})

test.each(['call_abc', 'call_abc_n0', 'toolu_01A09q90qw90lq917835lq9', 'call_a_b_n0', '', 'call_a_db_n12345'])(
  'the id %j of another server holds none',
  (id) => {
    expect(parkedCallOf(id)).toBeUndefined()
  },
)
