import { expect, test } from 'vitest'
import { RecordedAgent } from '../../src/engine/replay/index.ts'
import { Agents } from '../../src/translate/agents.ts'
import { plainBack, start } from '../kit/plain.ts'

/** Agents of the plain protocol, and what they said. */
function agents() {
  const seen: unknown[][] = []
  let opened = 0
  const context = { options: {}, agent: 'a', env: {}, folder: '/' }
  const all = new Agents(() => {
    const number = ++opened
    return new RecordedAgent(plainBack(), context, { event: ({ type }) => seen.push([number, type]) })
  })
  return { all, seen }
}

const end = (turn: string): string => JSON.stringify({ type: 'turn-end', turn, outcome: 'completed' })

test('a turn that runs beside another one has an agent of its own, which is used again', () => {
  const { all } = agents()
  expect(all.idle).toBe(true)
  const first = all.forTurn()
  first.start(start({ turn: 'a' }))
  expect([first === all.first, all.idle]).toEqual([true, false])
  const second = all.forTurn()
  second.start(start({ turn: 'b' }))
  expect(second === first).toBe(false)
  second.decode(end('b'))
  expect(all.forTurn()).toBe(second)
})

test('a frame is read by the agents with a turn, or by the first one', () => {
  const { all, seen } = agents()
  all.decode(end('a'))
  all.forTurn().start(start({ turn: 'a' }))
  all.decode(end('a'))
  all.decode(end('a'))
  expect(seen.filter(([, type]) => type === 'turn-end')).toEqual([[1, 'turn-end']])
})

test('the end of the wire ends every turn', () => {
  const { all, seen } = agents()
  for (const turn of ['a', 'b']) all.forTurn().start(start({ turn }))
  all.head({ status: 200, headers: {} })
  all.end({ why: 'closed', exitCode: 1 })
  expect(seen.filter(([, type]) => type === 'turn-end')).toEqual([
    [1, 'turn-end'],
    [2, 'turn-end'],
  ])
})

test('what is to wait for silence runs after the step that speaks, in order', () => {
  const { all } = agents()
  const order: string[] = []
  all.whenSilent(() => order.push('at once'))
  all.speak(() => {
    all.whenSilent(() => order.push('first'))
    all.whenSilent(() => {
      all.whenSilent(() => order.push('within'))
      order.push('second')
    })
    order.push('spoken')
  })
  expect(order).toEqual(['at once', 'spoken', 'first', 'within', 'second'])
})
