import { expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { withHistory } from '../../src/engine/carry/history.ts'
import type { Command, Loss, Message, TurnStart } from '../../src/model/index.ts'

const command: Command & TurnStart = {
  exchange: 'x',
  type: 'turn-start',
  turn: 't',
  task: 'prompt',
  input: [{ type: 'text', text: 'and now?' }],
  options: {},
}
const said = (role: Message['role'], text: string): Message => ({ role, parts: [{ type: 'text', text }] })
const history = [said('system', 'be kind'), said('user', 'hi'), said('assistant', 'hello'), said('tool', 'ok')]

function given(full: readonly 'start.history'[], of: Command & TurnStart, past: readonly Message[]) {
  const losses: Loss[] = []
  return { command: withHistory(capabilities({ full }), of, past, (loss) => losses.push(loss)), losses }
}

test('an agent with a place for the history gets it there', () => {
  expect(given(['start.history'], command, history)).toEqual({ command: { ...command, history }, losses: [] })
})

test('an agent without one reads it before the prompt, which is a loss of form', () => {
  expect(given([], command, history)).toEqual({
    command: {
      ...command,
      input: [
        {
          type: 'text',
          text:
            'The conversation so far:\n\nSystem: be kind\n\nUser: hi\n\nAssistant: hello\n\nTool: ok\n\n' +
            'It goes on with this message:',
        },
        { type: 'text', text: 'and now?' },
      ],
    },
    losses: [{ kind: 'weakened', item: 'start.history', why: 'no-place', count: 1 }],
  })
})

test('without a history, or with the client’s own one, the request stays as it is', () => {
  const own = { ...command, history: [said('user', 'mine')] }
  expect(given([], command, []).command).toBe(command)
  expect(given([], own, history)).toEqual({ command: own, losses: [] })
})
