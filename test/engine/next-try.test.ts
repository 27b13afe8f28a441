import { describe, expect, test } from 'vitest'
import { Breakers } from '../../src/engine/agent/index.ts'
import { failoverAfter, RETRIES, retryAfter } from '../../src/engine/turn/next-try.ts'
import { ERROR_CODES, type Fault, fault, type TurnEnd } from '../../src/model/index.ts'
import { plainAgent, plainTurn } from '../kit/plain.ts'

const endOf = (found?: Fault): TurnEnd => ({
  type: 'turn-end',
  turn: 't',
  outcome: 'failed',
  ...(found && { fault: found }),
})
const fresh: Fault = { ...fault('internal', 'x'), retry: 'fresh-session' }
const lost: Fault = { ...fault('session-not-found', 'x'), retry: 'fresh-session' }

describe('a second attempt with the same agent', () => {
  test.each([
    ['that has lost the session', lost, RETRIES, 'session-lost'],
    ['that has lost it again', lost, ['fresh-session'], 'fresh-session'],
    ['that has lost the fresh one too', lost, [], undefined],
    ['that wants a fresh session', fresh, RETRIES, 'fresh-session'],
    ['that wants another fresh one', fresh, ['session-lost'], undefined],
    ['that knows of no session and of no other way', fault('session-not-found', 'x'), RETRIES, undefined],
    ['that failed otherwise', fault('agent-crashed', 'x'), RETRIES, undefined],
    ['that failed without a word', undefined, RETRIES, undefined],
  ] as const)('%s', (_which, found, left, expected) => {
    expect(retryAfter(endOf(found), left, false)).toBe(expected)
  })

  test.each([
    [RETRIES, 'process-gone'],
    [['session-lost'], undefined],
  ] as const)('whose process was gone before, of %j', (left, expected) => {
    expect(retryAfter(endOf(fault('agent-crashed', 'x')), left, true)).toBe(expected)
  })
})

describe('an agent that takes over', () => {
  const others = ['b', 'c'].map((name) => plainAgent('', { name, breaker: { failures: 1, cooldown: 1000 } }))

  test.each(ERROR_CODES)('after %s', (code) => {
    const { turn } = plainTurn()
    const helps = ['agent-unavailable', 'agent-crashed', 'overloaded', 'provider-down', 'provider-rate-limit'].includes(
      code,
    )
    expect(failoverAfter(endOf(fault(code, 'x')), turn, others)?.name).toBe(helps ? 'b' : undefined)
  })

  test('is the first that may be tried, and the failure of the one before counts', () => {
    const breakers = new Breakers(() => 0)
    const agent = plainAgent('', { breaker: { failures: 1, cooldown: 1000 } })
    breakers.recordOutcome(others[0]!, fault('agent-unavailable', 'x'))
    const { turn } = plainTurn({ agent, peers: { breakers } })
    const end = endOf(fault('agent-unavailable', 'x'))
    expect(failoverAfter(end, turn, [])).toBeUndefined()
    expect([failoverAfter(endOf(), turn, others), breakers.state(agent)]).toEqual([undefined, 'closed'])
    expect([failoverAfter(end, turn, others)?.name, breakers.state(agent)]).toEqual(['c', 'open'])
  })
})
