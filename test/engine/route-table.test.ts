import { describe, expect, test } from 'vitest'
import type { Route } from '../../src/contract/index.ts'
import { limitsOf } from '../../src/engine/common/settings.ts'
import { type Facts, routeTableOf } from '../../src/engine/dispatch/route-table.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { LIMITS, plainAgent, ROUTE } from '../kit/plain.ts'

const agent = plainAgent('')
const NOTHING: Facts = {
  front: undefined,
  principal: undefined,
  channel: undefined,
  agent: undefined,
  session: undefined,
  model: undefined,
}
const route = (when: Route['when']): Route => ({ ...ROUTE, when })

describe('the route table of settings', () => {
  test('is made once', () => {
    const settings = settingsOf([agent])
    expect(routeTableOf(settings)).toBe(routeTableOf(settings))
    expect(routeTableOf(settingsOf([agent]))).not.toBe(routeTableOf(settings))
  })

  test.each<[Route['when'], Partial<Facts>, boolean]>([
    [{}, {}, true],
    [{ channel: '*' }, {}, false],
    [{ channel: '*' }, { channel: '' }, true],
    [{ channel: 'qq_*', model: 'big' }, { channel: 'qq_7', model: 'big' }, true],
    [{ channel: 'qq_*', model: 'big' }, { channel: 'qq_7', model: 'small' }, false],
    [{ front: 'zot' }, { front: 'zot@rpc' }, true],
    [{ front: 'zot@*' }, { front: 'zot' }, false],
    [{ agent: 'zot' }, { agent: 'zot@rpc' }, false],
  ])('when %j: with %j it matches: %s', (when, facts, matches) => {
    const only = route(when)
    const { match } = routeTableOf(settingsOf([agent], { routes: [only] }))
    expect(match({ ...NOTHING, ...facts })).toBe(matches ? only : undefined)
  })

  test('has the first route that matches, and one without conditions for every agent', () => {
    const [first, second] = [route({ model: 'b*' }), route({ model: 'big' })]
    const { match, plain } = routeTableOf(settingsOf([agent], { routes: [first, second] }))
    expect(match({ ...NOTHING, model: 'big' })).toBe(first)
    expect(plain('plain')).toMatchObject({ agent: 'plain', when: {}, approvals: 'deny', busy: 'queue' })
    expect(plain('plain')).toBe(plain('plain'))
  })
})

test('the limits of a turn are its agent’s with its route’s over them, for each agent of the route', () => {
  const tight = { ...ROUTE, limits: { total: 5 } }
  const other = plainAgent('', { name: 'other', limits: { ...LIMITS, idle: 7 } })
  expect(limitsOf(agent, ROUTE)).toBe(agent.limits)
  expect(limitsOf(agent, tight)).toEqual({ ...LIMITS, total: 5 })
  expect(limitsOf(other, tight)).toEqual({ ...LIMITS, idle: 7, total: 5 })
  expect(limitsOf(agent, tight)).toEqual({ ...LIMITS, total: 5 })
  expect(limitsOf(agent, tight)).toBe(limitsOf(agent, tight))
})
