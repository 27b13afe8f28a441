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
