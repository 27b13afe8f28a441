import { describe, expect, test } from 'vitest'
import {
  agentConcerns,
  askingTurns,
  breakerText,
  replicaConcern,
  stderrOf,
  storeConcern,
  tailOf,
} from '../../console/logic/concerns.ts'
import type { AgentError, AgentRow, TurnDetail, TurnRow } from '../../console/logic/types.ts'

const HOUR = 3_600_000
const error = (at: number): AgentError => ({ at, turn: `t${at}`, code: 'agent-crashed', message: 'It fell.' })
const agent = (name: string, errors: number[] = [], more: Partial<AgentRow> = {}): AgentRow => ({
  name,
  protocol: 'zot',
  errors: errors.map(error),
  ...more,
})
const shown = (...agents: AgentRow[]): unknown[] =>
  agentConcerns(agents, 2 * HOUR).map((concern) => [concern.agent.name, concern.errors.map(({ at }) => at)])

describe('the agents that need somebody', () => {
  test('are those with a failure in the last hour, the newest first, each with its last three', () => {
    expect(
      shown(
        agent('well'),
        agent('once', [HOUR + 1]),
        agent('often', [HOUR + 9, HOUR + 8, HOUR + 7, HOUR + 6]),
        agent('long ago', [HOUR]),
      ),
    ).toEqual([
      ['often', [HOUR + 9, HOUR + 8, HOUR + 7]],
      ['once', [HOUR + 1]],
    ])
  })

  test('are also those that get no turns, whatever failed before', () => {
    expect(shown(agent('open', [], { breaker: 'open' }), agent('half', [1], { breaker: 'half-open' }))).toEqual([
      ['open', []],
      ['half', []],
    ])
  })
})

test.each([
  [undefined, undefined],
  [{ writable: true, writeMs: 100 }, undefined],
  [{ writable: true, writeMs: 1234 }, /^The store is slow: A small write takes 1\.2 s, /],
  [{ writable: false, writeMs: 0 }, /^The store cannot be written: Turns go on without a record, /],
])('of the store %j it says %j', (store, expected) => {
  const concern = storeConcern(store)
  const said = concern && `${concern.title}: ${concern.text}`
  expect(said).toEqual(expected && expect.stringMatching(expected))
})

test.each([
  [undefined, undefined],
  [{ of: 3, answered: 3 }, undefined],
  [
    { of: 3, answered: 2, missing: ['http://b:8484'] },
    '1 of 3 replicas does not answer: No answer came from http://b:8484. The figures are those of the other 2. Look at its log, and at the network between the replicas.',
  ],
  [
    { of: 4, answered: 2 },
    '2 of 4 replicas do not answer: The figures are those of the other 2. Look at their logs, and at the network between the replicas.',
  ],
])('of the replicas %j it says %j', (replicas, expected) => {
  const concern = replicaConcern(replicas)
  expect(concern && `${concern.title}: ${concern.text}`).toEqual(expected)
})

test('turns that wait for an answer are those that ask or are parked', () => {
  const turns = ['working', 'asking', 'parked', undefined].map((phase) => ({ turn: `${phase}`, phase }) as TurnRow)
  expect(askingTurns(turns).map(({ turn }) => turn)).toEqual(['asking', 'parked'])
})

test('the tail of an error output has its last lines that are not empty', () => {
  expect(tailOf('one\ntwo\n\nthree\n \n', 2)).toBe('two\nthree')
  expect(tailOf('', 2)).toBe('')
})

test('a breaker is told of unless it is closed', () => {
  expect([agent('a'), agent('a', [], { breaker: 'closed' })].map(breakerText)).toEqual([undefined, undefined])
  expect(breakerText(agent('a', [], { breaker: 'open' }))).toBe('gets no turns for a while (breaker open)')
  expect(breakerText(agent('a', [], { breaker: 'half-open' }))).toBe('the next turn tries it (breaker half-open)')
})

test('the error output of a turn is its own, or that of the newest one that failed in the same words', () => {
  const errors = [
    { ...error(9), stderr: 'nine\n' },
    { ...error(8), message: 'Other.', stderr: 'eight\n' },
  ]
  const of = (turn: string, message: string, name = 'a') =>
    stderrOf([agent('a', [], { errors })], { turn, agent: name, fault: { message } } as TurnDetail)
  expect([of('t8', 'It fell.'), of('t1', 'It fell.'), of('t1', 'Else.'), of('t8', 'It fell.', 'b')]).toEqual([
    'eight',
    'nine',
    undefined,
    undefined,
  ])
})
