import { beforeEach, expect, test } from 'vitest'
import type { Replica } from '../../src/contract/index.ts'
import { Crossing } from '../../src/engine/client/crossing.ts'

const OTHER: Replica = {
  owner: 'other',
  epoch: 1,
  address: 'http://other',
  version: '1',
  agents: {},
  draining: false,
  expired: false,
}

let seen: string[]
let crossing: Crossing

beforeEach(() => {
  seen = []
  crossing = new Crossing({
    forwarded: true,
    to: ({ owner }, repeatable) => seen.push(`to ${owner} ${repeatable}`),
    settled: () => seen.push('settled'),
  })
})

const step = (name: string) => crossing.step(() => seen.push(name))

test('takes the first command, and the others in order once it is certain that they are answered here', async () => {
  for (const name of ['first', 'second', 'third']) step(name)
  expect(seen).toEqual(['first'])
  expect(crossing.open).toBe(true)
  crossing.settle()
  step('late')
  expect(seen).toEqual(['first', 'settled'])
  await Promise.resolve()
  expect(seen).toEqual(['first', 'settled', 'second', 'third', 'late'])
  step('fourth')
  crossing.settle()
  expect(seen.slice(5)).toEqual(['fourth'])
  expect(crossing.open).toBe(false)
})

test('leaves with all of them to another replica', () => {
  for (const name of ['first', 'second']) step(name)
  crossing.leave(OTHER, true, { link: 'x', told: 0 })
  crossing.settle()
  expect([seen, crossing.open, crossing.forwarded]).toEqual([['first', 'to other true'], false, true])
})
