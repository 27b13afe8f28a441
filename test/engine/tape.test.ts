import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Tape, type WireFrame } from '../../src/engine/common/tape.ts'

const asItIs = (text: string): string => text

/** A tape whose clock counts, of a turn whose events the test counts. */
function taped(clean = asItIs) {
  let at = 0
  const view = { seq: 0 }
  const tape = new Tape(() => ++at, clean)
  tape.follow(view)
  return { tape, view }
}

test('frames have the number of the event that they were written for, or read as', () => {
  const { tape, view } = taped()
  tape.client('in', 'please')
  view.seq = 1
  tape.toAgent('go')
  tape.fromAgent('two events', () => {
    view.seq += 2
  })
  tape.fromAgent('nothing', () => {})
  tape.client('out', 'done')
  expect(tape.wire(asItIs)).toEqual({
    client: [
      { dir: 'in', at: 1, seq: 1, text: 'please' },
      { dir: 'out', at: 5, seq: 3, text: 'done' },
    ],
    agent: [
      { dir: 'out', at: 2, seq: 1, text: 'go' },
      { dir: 'in', at: 3, seq: 2, text: 'two events' },
      { dir: 'in', at: 4, text: 'nothing' },
    ],
  })
})

test('a frame that ends the turn is on the tape when its end is recorded', () => {
  const { tape, view } = taped()
  let recorded: unknown
  tape.fromAgent('the end', () => {
    view.seq = 1
    recorded = tape.wire(asItIs).agent
  })
  expect(recorded).toEqual([{ dir: 'in', at: 1, seq: 1, text: 'the end' }])
})

test('secrets of the gateway and of the agent are taken out', () => {
  const { tape } = taped((text) => text.replace('key', '***'))
  tape.client('in', 'key and word')
  expect(tape.wire((text) => text.replace('word', '###')).client).toMatchObject([{ text: '*** and ###' }])
})

test('a long frame is cut before the word that is in two, and says so', () => {
  const { tape } = taped()
  tape.client('in', 'x'.repeat(40_000))
  expect(tape.wire(asItIs).client).toEqual([{ dir: 'in', at: 1, seq: 1, text: 'x'.repeat(32_512), cut: true }])
})

test('whatever comes, a side is bounded, begins with its first frames and ends with its last ones', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40_000), { maxLength: 60 }), (lengths) => {
      const { tape } = taped()
      for (const [at, length] of lengths.entries()) tape.client('out', `${at} `.padEnd(length, 'x'))
      const frames = tape.wire(asItIs).client
      const isGap = ({ text }: WireFrame): boolean => text === ''
      const numbers = frames.filter((frame) => !isGap(frame)).map(({ text }) => Number(text.split(' ')[0]))
      expect(frames.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(262_144)
      expect([...numbers].sort((a, b) => a - b)).toEqual(numbers)
      if (lengths.length > 0) expect([numbers[0], numbers.at(-1)]).toEqual([0, lengths.length - 1])
      expect(frames.filter(isGap).length).toBe(numbers.length === lengths.length ? 0 : 1)
    }),
    { numRuns: 30 },
  )
})
