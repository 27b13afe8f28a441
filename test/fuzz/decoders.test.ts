import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newCampaign, tryOne, tryPair } from './campaign.ts'
import { corpus } from './corpus.ts'
import { brokenBy } from './fuzz.ts'

/**
 * Whatever bytes come, however cut, to whichever half of a codec: nothing is thrown, every turn has exactly one end, and
 * what is said has the shape of the model. The long search is `node test/fuzz/main.ts`.
 */
const campaign = await newCampaign()
const { targets, seeds } = campaign
const fronts = targets.filter(({ half }) => half === 'front')
const backs = targets.filter(({ half }) => half === 'back')

/** Changed samples for each target, and turns of changed agents for each pair of halves. */
const CHANGED = 80
const SHOWN = 3

describe.each(targets.map((target) => [target.name, target] as const))('%s', (_name, target) => {
  const own = seeds.get(target)!

  test('reads every sample as its laws have it', () => {
    expect(own.map((one) => brokenBy(target, one, [1, 2, 3])?.message)).toEqual(own.map(() => undefined))
  })

  test('reads any bytes', () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), fc.json())
    fc.assert(
      fc.property(
        fc.array(bytes, { maxLength: 6 }),
        fc.array(fc.nat(200)),
        fc.nat(own.length - 1),
        (lines, cuts, at) => {
          const wire = Buffer.concat(lines.flatMap((line) => [Buffer.from(line as string), Buffer.from('\n')]))
          expect(brokenBy(target, { ...own[at]!, wire }, cuts)?.message).toBeUndefined()
        },
      ),
      { numRuns: 40, seed: 1 },
    )
  })

  test('reads changed samples', () => {
    const found = Array.from({ length: CHANGED }, (_, seed) => tryOne(campaign, target, seed)?.message)
    expect(found.filter((message) => message !== undefined)).toEqual([])
  })
})

test.each(backs.map((back) => [back.name, back] as const))(
  'the turns of a changed %s are shown by every front',
  (_name, back) => {
    const found = fronts.flatMap((front, at) =>
      Array.from({ length: SHOWN }, (_, nth) => tryPair(campaign, back, front, 1000 + at * SHOWN + nth)?.message),
    )
    expect(found.filter((message) => message !== undefined)).toEqual([])
  },
)

describe('what was found once', () => {
  const known = corpus()

  test.each(known.map((one) => [one.file, one] as const))('%s', (_file, { one, cuts }) => {
    const target = targets.find(({ name }) => name === one.target)
    expect(target && brokenBy(target, one, cuts)?.message).toBeUndefined()
    expect(target).toBeDefined()
  })

  test('is there', () => expect(known.length).toBeGreaterThan(0))
})
