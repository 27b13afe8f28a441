import { expect, test } from 'vitest'
import { offersAsSet } from '../../src/engine/dispatch/offers-as-set.ts'

const choices = [{ value: 'a' }, { value: 'b' }]
const select = (id: string, category?: string) => ({ id, ...(category && { category }), value: 'a', choices })
const OFFERS = {
  title: 't',
  mode: 'a',
  modes: [{ id: 'a' }, { id: 'b' }],
  options: [
    select('mode', 'mode'),
    select('m', 'model'),
    select('e', 'effort'),
    select('x'),
    { id: 'on', value: false },
  ],
}
const set = (settings: Parameters<typeof offersAsSet>[1], offers: unknown = OFFERS): unknown =>
  JSON.parse(offersAsSet(JSON.stringify(offers), settings))

test('what a client has set is the value of what its agent offers', () => {
  const options = { x: 'b', on: true }
  expect(set({ mode: 'b', model: 'b', effort: 'b', options })).toEqual({
    ...OFFERS,
    mode: 'b',
    options: [...OFFERS.options.slice(0, 4).map((option) => ({ ...option, value: 'b' })), { id: 'on', value: true }],
  })
  expect(set({ model: 'b', options: { m: 'a' } })).toEqual(OFFERS)
})

test.each([
  [undefined, OFFERS],
  [{}, OFFERS],
  [{ mode: 'z', model: 'z', options: { x: 'z', on: 'z' } }, OFFERS],
  [{ mode: 'b' }, { modes: 7, options: 7 }],
  [
    { mode: 'b', model: 'b' },
    { modes: [7], options: [7, { id: 7 }] },
  ],
  [{ mode: 'b' }, [7]],
])('the settings %j change nothing of %j', (settings, offers) => {
  expect(set(settings, offers)).toEqual(offers)
})
