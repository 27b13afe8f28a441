import { expect, test } from 'vitest'
import type { Command, TurnEvent } from '../../src/model/index.ts'
import { Flow } from '../../src/translate/flow.ts'
import { Flows } from '../../src/translate/flows.ts'
import { start } from '../kit/plain.ts'

/** Turns of these names, and the events that the target was given. */
function flowing(...turns: string[]) {
  const told: TurnEvent[] = []
  const target = { start: () => ({ event: (event: TurnEvent) => told.push(event), loss() {} }), send() {}, link() {} }
  const flows = new Flows()
  for (const turn of turns)
    flows.add(new Flow(start({ turn, request: `r-${turn}` }), undefined, target, undefined)).begin()
  return { flows, told }
}

test('a command is for the turn that it names, or for the newest one that runs', () => {
  const { flows } = flowing('a', 'b', 'c')
  const meant = (target: 'running' | { turn: string } | { request: string }): string | undefined =>
    flows.meant({ exchange: 'x', type: 'turn-cancel', target } satisfies Command)?.turn
  expect([meant('running'), meant({ turn: 'a' }), meant({ request: 'r-b' }), meant({ turn: 'z' })]).toEqual([
    'c',
    'a',
    'b',
    undefined,
  ])
  flows.of('c')!.event({ type: 'turn-end', turn: 'c', outcome: 'completed' })
  expect([meant('running'), meant({ turn: 'c' })]).toEqual(['b', undefined])
  expect(flows.meant({ exchange: 'x', type: 'query', what: 'models' })?.turn).toBe('b')
})

test('turns of an agent that was not recorded end in the order in which they began', () => {
  const { flows, told } = flowing('a', 'b', 'c')
  expect([flows.count, flows.open?.turn, flows.finish(), flows.open?.turn]).toEqual([3, 'a', true, 'b'])
  flows.finishAll()
  expect([flows.finish(), flows.open]).toEqual([false, undefined])
  expect(told.map(({ type, turn }) => [type, turn])).toEqual([
    ['turn-end', 'a'],
    ['turn-end', 'b'],
    ['turn-end', 'c'],
  ])
})
