import { expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { carryStart } from '../../src/engine/carry/carry.ts'
import type { Command, Loss, TurnStart } from '../../src/model/index.ts'

const environment = { privacy: 'public', json: '{"screen":"opened"}' } as const

function start(more: Partial<TurnStart>): Command & TurnStart {
  return { exchange: 'x', type: 'turn-start', turn: 't', task: 'prompt', input: [], options: {}, ...more }
}

/** What an agent is told, and what is lost on the way. */
function carried(command: Command & TurnStart, places: readonly ('start.environment' | 'start.invocation')[] = []) {
  const losses: Loss[] = []
  const told = carryStart(capabilities({ full: ['part.text', ...places] }), command, (loss) => losses.push(loss))
  return { input: told.input, environment: told.environment, losses }
}

test.each([
  ['nothing', []],
  ['a blank text', [{ type: 'text', text: ' \n' }]],
] as const)(
  'surroundings are the prompt of an agent without a place for them where the client says %s',
  (_what, input) => {
    expect(carried(start({ input, environment }))).toEqual({
      input: [{ type: 'text', text: '{"screen":"opened"}' }],
      environment: undefined,
      losses: [{ kind: 'weakened', item: 'start.environment', why: 'no-place', count: 1 }],
    })
  },
)

test('an agent with a place for surroundings has no prompt made up', () => {
  expect(carried(start({ environment }), ['start.environment'])).toEqual({ input: [], environment, losses: [] })
})

test('surroundings beside a prompt are not told in it', () => {
  const input = [{ type: 'text', text: 'hi' }] as const
  expect(carried(start({ input, environment }))).toEqual({
    input,
    environment: undefined,
    losses: [{ kind: 'dropped', item: 'start.environment', why: 'no-place', count: 1 }],
  })
})

test('a part of a prompt loses the fields of a protocol where they have no place', () => {
  const part = { type: 'text', text: 'hi', ext: { protocol: 'zot', json: '{}' } } as const
  expect(carried(start({ input: [part] }))).toMatchObject({
    input: [{ type: 'text', text: 'hi' }],
    losses: [{ kind: 'dropped', item: 'part.ext', why: 'no-place', count: 1 }],
  })
})
