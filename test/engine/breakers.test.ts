import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import { fault } from '../../src/model/index.ts'
import { plainAgent } from '../kit/plain.ts'

const agent = plainAgent('')
const DOWN = fault('agent-unavailable', 'down')

/** Breakers on a clock that is moved, after so many failures of the agent. */
function broken(failures: number) {
  const time = { now: 1000 }
  const breakers = new Breakers(() => time.now)
  for (let failure = 0; failure < failures; failure += 1) breakers.recordOutcome(agent, DOWN)
  return { breakers, time }
}

test('an agent is used until it failed as often in a row as its settings say', () => {
  const { breakers } = broken(1)
  expect([breakers.state(agent), breakers.admit(agent)]).toEqual(['closed', true])
  breakers.recordOutcome(agent, DOWN)
  expect([breakers.state(agent), breakers.admit(agent)]).toEqual(['open', false])
  expect(breakers.refusal(agent)).toMatchObject({
    code: 'agent-unavailable',
    message: 'The agent "plain" failed 2 times in a row; it is tried again in 1 s.',
  })
})

test('a success in between begins the count again', () => {
  const { breakers } = broken(1)
  breakers.recordOutcome(agent, undefined)
  breakers.recordOutcome(agent, DOWN)
  expect(breakers.state(agent)).toBe('closed')
})

test('an agent whose provider asks to wait is passed by for that time, while there is another one', () => {
  const { breakers, time } = broken(0)
  const other = plainAgent('', { name: 'other' })
  const limited = (retryAfterMs: number) => fault('provider-rate-limit', 'slow down', { retryAfterMs })
  breakers.recordOutcome(agent, limited(20_000))
  expect(breakers.choose([agent, other])).toBe(other)
  expect(breakers.choose([agent])).toBe(agent)
  breakers.recordOutcome(other, limited(1000))
  expect(breakers.choose([agent, other])).toBe(agent)
  time.now += 19_999
  expect(breakers.choose([agent, other])).toBe(other)
  time.now += 1
  expect(breakers.choose([agent, other])).toBe(agent)
  breakers.recordOutcome(agent, limited(86_400_000))
  time.now += 600_000
  expect(breakers.choose([agent, other])).toBe(agent)
})

test('what says nothing of the agent itself does not count', () => {
  const { breakers } = broken(0)
  for (const code of ['invalid-request', 'timeout', 'cancelled', 'agent-crashed'] as const)
    for (let turn = 0; turn < 3; turn += 1) breakers.recordOutcome(agent, fault(code, 'x'))
  expect(breakers.state(agent)).toBe('closed')
})

test('after the cooldown one turn tries the agent, and decides', () => {
  const { breakers, time } = broken(2)
  time.now += 999
  expect(breakers.state(agent)).toBe('open')
  time.now += 1
  expect(breakers.state(agent)).toBe('half-open')
  expect([breakers.admit(agent), breakers.admit(agent)]).toEqual([true, false])
  breakers.recordOutcome(agent, DOWN)
  expect(breakers.state(agent)).toBe('open')
  time.now += 1000
  expect(breakers.admit(agent)).toBe(true)
  breakers.recordOutcome(agent, undefined)
  expect(breakers.state(agent)).toBe('closed')
})

test.each([
  ['is released', (breakers: Breakers) => breakers.release(agent)],
  ['ends without a word about it', (breakers: Breakers) => breakers.recordOutcome(agent, fault('cancelled', 'x'))],
])('a try that %s leaves it to the next turn', (_how, end) => {
  const { breakers, time } = broken(2)
  time.now += 1000
  breakers.admit(agent)
  end(breakers)
  expect([breakers.state(agent), breakers.admit(agent)]).toEqual(['half-open', true])
})

test('agents break by themselves', () => {
  const { breakers } = broken(2)
  expect(breakers.state({ ...agent, name: 'other' })).toBe('closed')
  breakers.release({ ...agent, name: 'other' })
})

test('the time until an agent is tried again is told in whole seconds, one at least', () => {
  const { breakers, time } = broken(2)
  const told = (): string => breakers.refusal(agent).message
  for (const [after, seconds] of [
    [0, 1],
    [1, 1],
    [999, 1],
    [1000, 1],
  ] as const) {
    time.now = 1000 + after
    expect(told()).toContain(`it is tried again in ${seconds} s.`)
  }
  const patient = plainAgent('', { name: 'patient', breaker: { failures: 1, cooldown: 90_001 } })
  breakers.recordOutcome(patient, DOWN)
  expect(breakers.refusal(patient).message).toBe(
    'The agent "patient" failed 1 times in a row; it is tried again in 91 s.',
  )
})

test('law: an agent is open, half open or closed as a plain model of its failures says', () => {
  type Step = { do: 'fail' | 'work' | 'other' | 'admit' | 'release' } | { do: 'pass'; ms: number }
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.constantFrom('fail', 'fail', 'work', 'other', 'admit', 'admit', 'release').map((what) => ({ do: what }) as Step),
    fc.integer({ min: 1, max: 700 }).map((ms): Step => ({ do: 'pass', ms })),
  )
  const OTHER = fault('invalid-request', 'not its fault')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { breakers, time } = broken(0)
      // The settings of a plain agent: two failures in a row, then a second without turns.
      let failures = 0
      let until = 0
      let probing = false
      const state = (): string => (until === 0 ? 'closed' : probing || time.now < until ? 'open' : 'half-open')
      for (const one of steps) {
        if (one.do === 'pass') time.now += one.ms
        else if (one.do === 'admit') {
          const before = state()
          expect(breakers.admit(agent)).toBe(before !== 'open')
          if (before === 'half-open') probing = true
        } else if (one.do === 'work') {
          breakers.recordOutcome(agent, undefined)
          failures = 0
          until = 0
          probing = false
        } else if (one.do === 'fail') {
          breakers.recordOutcome(agent, DOWN)
          failures += 1
          probing = false
          if (failures >= 2) until = time.now + 1000
        } else {
          if (one.do === 'other') breakers.recordOutcome(agent, OTHER)
          else breakers.release(agent)
          probing = false
        }
        expect(breakers.state(agent)).toBe(state())
      }
    }),
  )
})

test('an agent that nothing is known of can be released, and its provider is not waited for', () => {
  const { breakers } = broken(0)
  breakers.release(agent)
  expect([breakers.state(agent), breakers.choose([agent])]).toEqual(['closed', agent])
})
