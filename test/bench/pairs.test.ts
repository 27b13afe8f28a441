import { describe, expect, test } from 'vitest'
import { EVENTS } from './gateway.ts'
import { everySide, translateOnce, wireOf } from './pairs.ts'

const sides = await everySide()

describe.each(sides)('$name, read at once', (from) => {
  test.each(sides)('is written for $name as it is when it is read frame by frame', (to) => {
    const wire = wireOf(from)
    const [together, single] = [true, false].map((all) => {
      let text = ''
      const events = translateOnce(from, wire, to, (piece) => (text += piece), all)
      return { events, text }
    })
    expect(together).toEqual(single)
    expect(together!.events).toBe(EVENTS)
  })
})
