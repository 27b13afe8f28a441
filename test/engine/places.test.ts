import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Places, type Waiting } from '../../src/engine/agent/places.ts'

/** One who asked for a place: has it, waits for it, or is done. */
interface Guest {
  waiting: Waiting | undefined
  state: 'has' | 'waits' | 'done'
}

test('places are never more than there are, and go to those who wait in their order', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ do: 'come' } as const) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('go' as const), who: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('resize' as const), to: fc.integer({ min: 1, max: 6 }) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (first, steps) => {
      let max = first
      const places = new Places(max)
      const guests: Guest[] = []
      const of = (state: Guest['state']): Guest[] => guests.filter((guest) => guest.state === state)
      for (const each of steps) {
        if (each.do === 'come') {
          const has = places.take()
          expect(has).toBe(of('has').length < max)
          const guest: Guest = { waiting: has ? undefined : places.wait(), state: has ? 'has' : 'waits' }
          void guest.waiting?.over.then((granted) => {
            // Everybody who came before has been served or has left.
            if (granted) expect(of('waits')[0]).toBe(guest)
            guest.state = granted ? 'has' : 'done'
          })
          guests.push(guest)
        } else if (each.do === 'resize') {
          max = each.to
          places.resize(max)
          await Promise.resolve()
        } else {
          const some = of(each.do === 'go' ? 'has' : 'waits')
          const guest = some[each.who % some.length]
          if (!guest) continue
          guest.state = each.do === 'go' ? 'done' : guest.state
          if (each.do === 'go') places.give()
          else guest.waiting!.leave()
          await Promise.resolve()
          expect(guest.state).toBe('done')
        }
        const [has, waits] = [of('has').length, of('waits').length]
        // Those that are taken stay so when there are fewer; nobody waits while one is free.
        expect(waits === 0 || has >= max).toBe(true)
        expect([places.max, places.free, places.over]).toEqual([max, Math.max(0, max - has), Math.max(0, has - max)])
        expect(places.waiting).toBe(waits)
      }
    }),
  )
})

test('who has been given a place can no longer leave the line, and gives the place back', async () => {
  const places = new Places(1)
  places.take()
  const [first, second] = [places.wait(), places.wait()]
  places.give()
  first.leave()
  expect(await first.over).toBe(true)
  expect(places.waiting).toBe(1)
  places.give()
  expect(await second.over).toBe(true)
})
