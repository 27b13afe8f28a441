import { expect, test } from 'vitest'
import { Figures } from '../../src/engine/session/figures.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { Fault, Usage } from '../../src/model/index.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

const MINUTE = 60_000

interface Made {
  agent?: string
  tenant?: string
  from?: number
  to: number
  usage?: Usage
  fault?: Fault
  journal?: 'full' | 'shape'
  stderr?: string
}

/** A turn that has its end. */
function ended({ agent = 'plain', tenant = 'local', from, to, usage, fault, journal = 'full', stderr }: Made): Turn {
  let now = from ?? to
  const record = { id: 'kept', tenant, agent, session: 's', conversation: '', createdAt: 1, usedAt: 1 }
  const options = { command: start({ turn: `t${to}` }), session: { record }, agent: { ...plainAgent(''), name: agent } }
  const { turn } = plainTurn({ ...options, route: { journal }, now: () => now })
  turn.scope.queued(0)
  turn.scope.firstEvent({ type: 'turn-started', turn: turn.id })
  now = to
  if (stderr !== undefined) turn.scope.stderr = stderr
  if (usage) turn.take({ type: 'usage', turn: turn.id, scope: 'turn', usage })
  turn.take({ type: 'turn-end', turn: turn.id, ...(fault ? { outcome: 'failed', fault } : { outcome: 'completed' }) })
  return turn
}

const FAULT: Fault = { code: 'agent-crashed', message: 'It fell.', retryable: false }

test('turns are added up by the minute of their end, for who may see them', () => {
  const figures = new Figures()
  figures.ended(ended({ from: 100, to: 200, usage: { input: 3, output: 2, costUsd: 0.5 } }))
  figures.ended(ended({ from: 100, to: 300, tenant: 'other', usage: { input: 1 }, fault: FAULT }))
  figures.ended(ended({ from: 0, to: 3 * MINUTE }))
  const of = (scope: Parameters<Figures['minutes']>[0]) =>
    figures.minutes(scope, 3 * MINUTE).filter(({ turns }) => turns > 0)
  const nothing = { failed: 0, input: 0, output: 0, costUsd: 0 }
  const first = { p50: 0, p95: 0 }
  const later = { ...nothing, at: 3 * MINUTE, turns: 1, firstEvent: first, total: { p50: 169_979, p95: 169_979 } }
  expect(of({ tenant: 'local' })).toEqual([
    { at: 0, turns: 1, failed: 0, input: 3, output: 2, costUsd: 0.5, firstEvent: first, total: { p50: 99, p95: 99 } },
    later,
  ])
  expect(of({})).toEqual([
    { at: 0, turns: 2, failed: 1, input: 4, output: 2, costUsd: 0.5, firstEvent: first, total: { p50: 99, p95: 197 } },
    later,
  ])
  expect(of({ tenant: 'nobody' })).toEqual([])
  expect(of('none')).toEqual([])
})

test('there are 60 minutes, the oldest first; what is older is forgotten', () => {
  const figures = new Figures()
  for (let minute = 0; minute < 70; minute++) figures.ended(ended({ to: minute * MINUTE }))
  const minutes = figures.minutes({}, 69 * MINUTE)
  expect([minutes.length, minutes[0]!.at, minutes.every(({ turns }) => turns === 1)]).toEqual([60, 10 * MINUTE, true])
  expect(figures.agent('plain', {}, 69 * MINUTE).turns).toBe(60)
  expect(figures.agent('plain', {}, 100 * MINUTE).turns).toBe(29)
  expect(figures.agent('other', {}, 69 * MINUTE)).toEqual({
    ...figures.minutes('none', 0)[0],
    at: undefined,
    errors: [],
  })
})

test('of the errors of an agent the last ten are given, the newest first, each to its tenant and to all', () => {
  const figures = new Figures()
  const word = (at: number): string => String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))
  for (let at = 0; at < 60; at++) {
    const fault = { ...FAULT, message: word(at) }
    figures.ended(ended({ to: at, tenant: at === 15 ? 'other' : 'local', fault }))
  }
  const errorsOf = (scope: Parameters<Figures['agent']>[1]) =>
    figures.agent('plain', scope, 0).errors.map(({ at }) => at)
  expect(errorsOf({})).toEqual([59, 58, 57, 56, 55, 54, 53, 52, 51, 50])
  expect(errorsOf({ tenant: 'other' })).toEqual([15])
})

test('failures that say the same but for numbers are one, the newest, with their count; not those of another tenant', () => {
  const figures = new Figures()
  const failed = (to: number, message: string, tenant = 'local'): void =>
    figures.ended(ended({ to, tenant, fault: { ...FAULT, message } }))
  failed(1, 'The cause.')
  for (let at = 2; at < 100; at++) failed(at, `It failed ${at} times; it is tried again in ${at} s.`)
  failed(100, 'It failed 1 times; it is tried again in 1 s.', 'other')
  failed(101, 'The cause.')
  const errors = figures.agent('plain', {}, 0).errors.map(({ at, times, message }) => [at, times, message])
  expect(errors).toEqual([
    [101, 2, 'The cause.'],
    [100, 1, 'It failed 1 times; it is tried again in 1 s.'],
    [99, 98, 'It failed 99 times; it is tried again in 99 s.'],
  ])
})

test('an error has its message and the end of stderr as far as content is kept', () => {
  const figures = new Figures()
  const stderr = `${'x'.repeat(5000)}end`
  figures.ended(ended({ to: 1, fault: { ...FAULT, message: 'm'.repeat(2000) }, stderr }))
  figures.ended(ended({ to: 2, fault: FAULT, stderr, journal: 'shape' }))
  const [second, first] = figures.agent('plain', {}, 0).errors
  expect(first).toEqual({
    at: 1,
    turn: 't1',
    times: 1,
    code: 'agent-crashed',
    message: 'm'.repeat(1000),
    stderr: `${'x'.repeat(4093)}end`,
  })
  expect(second).toEqual({ at: 2, turn: 't2', times: 1, code: 'agent-crashed' })
})

test('many tenants cost no more memory: what is beyond the bound is counted together, for those who see all', () => {
  const figures = new Figures()
  for (let at = 0; at < 300; at++) figures.ended(ended({ to: at, tenant: `tenant-${at}` }))
  const turnsOf = (scope: Parameters<Figures['minutes']>[0]) => figures.minutes(scope, 0).at(-1)!.turns
  expect([turnsOf({}), turnsOf({ tenant: 'tenant-199' }), turnsOf({ tenant: 'tenant-200' })]).toEqual([300, 1, 0])
})

test('a turn that never had an event has no time to its first one', () => {
  const { turn } = plainTurn({ now: () => 0 })
  turn.take({ type: 'turn-end', turn: turn.id, outcome: 'completed' })
  const figures = new Figures()
  figures.ended(turn)
  const figure = figures.minutes({}, 0).at(-1)!
  expect([figure.turns, 'firstEvent' in figure, 'total' in figure]).toEqual([1, false, true])
})

test('what other replicas have counted is added, to its minute and its agent', () => {
  const figures = new Figures()
  const theirs = new Figures()
  figures.ended(ended({ to: 0 }))
  theirs.ended(ended({ to: 0, tenant: 'other' }))
  theirs.ended(ended({ to: MINUTE, agent: 'second' }))
  const told = theirs.told({}, MINUTE)
  expect(told.map(({ minute, agent, sum }) => [minute, agent, sum.turns])).toEqual([
    [0, 'plain', 1],
    [1, 'second', 1],
  ])
  expect(figures.minutes({}, MINUTE, told).map(({ turns }) => turns)).toEqual([...Array(58).fill(0), 2, 1])
  expect(figures.agent('plain', {}, MINUTE, told).turns).toBe(2)
  expect(figures.agent('second', {}, MINUTE, told).turns).toBe(1)
  expect(theirs.told({ tenant: 'local' }, MINUTE)).toHaveLength(1)
  expect(theirs.told('none', MINUTE)).toEqual([])
})

test('figures of an agent, and what is told of it, are those that the scope may see', () => {
  const figures = new Figures()
  for (const tenant of ['a', 'b', 'b']) figures.ended(ended({ to: 0, tenant }))
  const of = (scope: Parameters<Figures['agent']>[1]) => figures.agent('plain', scope, 0).turns
  expect([of({}), of({ tenant: 'a' }), of({ tenant: 'b' }), of('none')]).toEqual([3, 1, 2, 0])
})

test('a minute is forgotten when a turn ends an hour later, and not before that', () => {
  const figures = new Figures()
  for (const minute of [0, 1, 59]) figures.ended(ended({ to: minute * MINUTE }))
  const kept = () => figures.told({}, 0).map(({ minute }) => minute)
  expect(kept()).toEqual([0, 1, 59])
  figures.ended(ended({ to: 60 * MINUTE }))
  expect(kept()).toEqual([1, 59, 60])
  figures.ended(ended({ to: 61 * MINUTE }))
  expect(kept()).toEqual([59, 60, 61])
})

test('a failure without a fault counts as internal, without words', () => {
  const { turn } = plainTurn({ now: () => 3 })
  turn.take({ type: 'turn-end', turn: turn.id, outcome: 'failed' })
  const figures = new Figures()
  figures.ended(turn)
  expect(figures.agent('plain', {}, 0).errors).toEqual([{ at: 3, turn: 't', times: 1, code: 'internal', message: '' }])
})

test('an error has no stderr where its process wrote none', () => {
  const figures = new Figures()
  figures.ended(ended({ to: 1, fault: FAULT, stderr: '' }))
  figures.ended(ended({ to: 2, fault: { ...FAULT, code: 'timeout' } }))
  for (const error of figures.agent('plain', {}, 0).errors) expect(error).not.toHaveProperty('stderr')
})

test('errors with the same words and another code are others, and what is beyond 1000 characters makes no other', () => {
  const figures = new Figures()
  const long = 'm'.repeat(1000)
  figures.ended(ended({ to: 1, fault: { ...FAULT, message: `${long}a` } }))
  figures.ended(ended({ to: 2, fault: { ...FAULT, message: `${long}b` } }))
  figures.ended(ended({ to: 3, fault: { ...FAULT, code: 'timeout', message: `${long}b` } }))
  expect(figures.agent('plain', {}, 0).errors.map(({ at, times, code }) => [at, times, code])).toEqual([
    [3, 1, 'timeout'],
    [2, 2, 'agent-crashed'],
  ])
})

test('of 51 different errors of an agent the oldest is forgotten', () => {
  const figures = new Figures()
  const word = (at: number): string => String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))
  const fail = (to: number, tenant: string): void =>
    figures.ended(ended({ to, tenant, fault: { ...FAULT, message: word(to) } }))
  fail(0, 'first')
  fail(1, 'second')
  for (let at = 2; at < 50; at += 1) fail(at, 'local')
  const errorsOf = (tenant: string) => figures.agent('plain', { tenant }, 0).errors.map(({ at }) => at)
  expect(errorsOf('first')).toEqual([0])
  fail(50, 'local')
  expect([errorsOf('first'), errorsOf('second')]).toEqual([[], [1]])
})

test('tenants and agents are counted separately up to 200 pairs, and those that are known go on so', () => {
  const figures = new Figures()
  for (let at = 0; at < 200; at++) figures.ended(ended({ to: 0, tenant: `tenant-${at}` }))
  figures.ended(ended({ to: 0, tenant: 'further' }))
  figures.ended(ended({ to: 0, tenant: 'tenant-0' }))
  figures.ended(ended({ to: 0, tenant: 'further', agent: 'other' }))
  const turnsOf = (scope: Parameters<Figures['minutes']>[0]) => figures.minutes(scope, 0).at(-1)!.turns
  expect([turnsOf({}), turnsOf({ tenant: 'tenant-0' }), turnsOf({ tenant: 'further' })]).toEqual([203, 2, 0])
  // Those of the rest belong to no agent.
  expect([figures.agent('plain', {}, 0).turns, figures.agent('other', {}, 0).turns]).toEqual([201, 0])
})
