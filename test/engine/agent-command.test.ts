import { describe, expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { commandFor } from '../../src/engine/turn/agent-command.ts'
import type { AgentSession } from '../../src/engine/turn/index.ts'
import { type Command, ITEMS, type TurnStart } from '../../src/model/index.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

const HISTORY = [{ role: 'user', parts: [{ type: 'text', text: 'before' }] }] as const

/** The command of a turn for its agent, and what was lost. */
function told(more: Partial<Command & TurnStart>, session: Partial<AgentSession> = {}, back = {}) {
  const agent = plainAgent('', {}, back)
  const { turn } = plainTurn({ command: { ...start(), ...more }, agent })
  return { command: commandFor(turn, { names: { id: 'n' }, settings: {}, ...session }), losses: turn.losses.list }
}

test('has the names of the session that the agent knows, and its own id of it', () => {
  const { command } = told({ session: { id: 's', conversation: 'c', channel: 'x' } }, { bound: 'its id' })
  expect(command.session).toEqual({ id: 'n', channel: 'x', bound: 'its id' })
  expect(told({}).command.session).toEqual({ id: 'n' })
})

test("has the client's settings of the session where the request says nothing else", () => {
  const settings = { model: 'm', effort: 'high', mode: 'plan' } as const
  expect(told({}, { settings }).command.options).toEqual({ model: 'm', effort: 'high' })
  expect(told({ options: { model: 'own' } }, { settings }).command.options).toEqual({ model: 'own', effort: 'high' })
})

test('tells an agent that has lost the conversation what was said, as its protocol can', () => {
  expect(told({}, { history: HISTORY }).command.history).toBe(HISTORY)
  const able = capabilities({ full: ITEMS.filter((item) => item !== 'start.history') })
  const { command, losses } = told({}, { history: HISTORY }, { able })
  expect([command.history, command.input.length]).toEqual([undefined, 2])
  expect(losses).toEqual([{ kind: 'weakened', item: 'start.history', why: 'no-place', count: 1 }])
})

describe('a client that tells the whole conversation', () => {
  const whole = { history: HISTORY, historyMode: 'complete' } as const
  const OTHERS = [{ role: 'user', parts: [{ type: 'text', text: 'ours' }] }] as const

  test.each([
    ['a session of its own', { ...whole }, {}, HISTORY],
    ['a session that goes on', { ...whole, after: 't0' }, { remembers: true }, undefined],
    ['a session whose agent has forgotten it', { ...whole, after: 't0' }, {}, HISTORY],
    ['one of which the gateway knows something else', { ...whole, after: 't0' }, { history: OTHERS }, HISTORY],
    ['the beginning', { historyMode: 'complete' }, { history: OTHERS }, undefined],
  ] as const)('has its agent told in %s', (_where, more, session, history) => {
    const { command } = told(more, session)
    expect([command.history, command.after, command.historyMode]).toEqual([history, undefined, undefined])
  })

  test.each([
    ['to what its agent remembers', { remembers: true }, HISTORY],
    ['to what is told again', { history: OTHERS }, [...OTHERS, ...HISTORY]],
  ] as const)('may add messages %s', (_where, session, history) => {
    const { command } = told({ history: HISTORY, historyMode: 'delta', after: 't0' }, session)
    expect([command.history, command.after, command.historyMode]).toEqual([history, undefined, undefined])
  })

  test('has an agent without a place for it read it', () => {
    const able = capabilities({ full: ITEMS.filter((item) => item !== 'start.history') })
    const { command, losses } = told(whole, {}, { able })
    expect([command.history, command.input.length]).toEqual([undefined, 2])
    expect(losses).toEqual([{ kind: 'weakened', item: 'start.history', why: 'no-place', count: 1 }])
  })

  test('has another agent told that takes the turn over', () => {
    const { turn } = plainTurn({ command: start({ ...whole, after: 't0' }) })
    turn.session = { ...turn.session }
    expect(commandFor(turn, { names: { id: 'n' }, settings: {}, remembers: true }).history).toBe(HISTORY)
  })
})
