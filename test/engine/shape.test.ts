import { expect, test } from 'vitest'
import { shapeOf } from '../../src/engine/events/shape.ts'
import { fault, type TurnEvent } from '../../src/model/index.ts'

const SECRET = 'the very words'
const ext = { protocol: 'zot', json: `"${SECRET}"` }
const part = { type: 'text', text: SECRET } as const

/** Events that hold content, and their shape. */
const SHAPES: readonly (readonly [event: object, shape: object])[] = [
  [
    { type: 'text-delta', message: 'm', text: SECRET, ext },
    { type: 'text-delta', message: 'm', text: '' },
  ],
  [
    { type: 'reasoning-delta', message: 'm', text: SECRET },
    { type: 'reasoning-delta', message: 'm', text: '' },
  ],
  [
    { type: 'tool-args-delta', tool: 'x', text: SECRET },
    { type: 'tool-args-delta', tool: 'x', text: '' },
  ],
  [
    { type: 'terminal-output', text: SECRET },
    { type: 'terminal-output', text: '' },
  ],
  [
    { type: 'notice', severity: 'info', code: 'c', text: SECRET },
    { type: 'notice', severity: 'info', code: 'c', text: '' },
  ],
  [
    { type: 'message-end', message: 'm', parts: [part, part] },
    { type: 'message-end', message: 'm', parts: [{ type: 'text', text: '' }] },
  ],
  [
    { type: 'message-end', message: 'm', parts: [] },
    { type: 'message-end', message: 'm', parts: [] },
  ],
  [
    { type: 'message-end', message: 'm' },
    { type: 'message-end', message: 'm' },
  ],
  [
    { type: 'tool-end', tool: 'x', status: 'ok', parts: [part] },
    { type: 'tool-end', tool: 'x', status: 'ok', parts: [] },
  ],
  [
    { type: 'tool-progress', tool: 'x', parts: [part] },
    { type: 'tool-progress', tool: 'x', parts: [] },
  ],
  [
    { type: 'tool-call', tool: 'x', name: 'read', args: SECRET, executor: 'agent' },
    { type: 'tool-call', tool: 'x', name: 'read', args: '{}', executor: 'agent' },
  ],
  [
    { type: 'tool-start', tool: 'x', name: 'read', title: SECRET },
    { type: 'tool-start', tool: 'x', name: 'read' },
  ],
  [
    { type: 'directive', action: 'go', json: SECRET },
    { type: 'directive', action: 'go', json: '{}' },
  ],
  [
    { type: 'plan', json: SECRET },
    { type: 'plan', json: '{}' },
  ],
  [
    { type: 'ask', ask: 'q', question: { kind: 'client', method: SECRET, params: SECRET } },
    { type: 'ask', ask: 'q', question: { kind: 'client', method: 'client', params: '{}' } },
  ],
  [
    { type: 'turn-parked', asks: [{ ask: 'q', text: SECRET }] },
    { type: 'turn-parked', asks: [] },
  ],
  [
    { type: 'foreign', frame: SECRET },
    { type: 'foreign', frame: '' },
  ],
  [
    { type: 'turn-end', outcome: 'completed', summary: SECRET },
    { type: 'turn-end', outcome: 'completed' },
  ],
  [
    { type: 'turn-end', outcome: 'failed', fault: { ...fault('timeout', SECRET), ext } },
    {
      type: 'turn-end',
      outcome: 'failed',
      fault: {
        code: 'timeout',
        message: 'The turn failed with this error; what was said of it is not kept.',
        retryable: fault('timeout', '').retryable,
      },
    },
  ],
]

test.each(SHAPES)('%j has no content in its shape', (event, shape) => {
  const kept = shapeOf({ turn: 't', ...event } as TurnEvent)
  expect(kept).toEqual({ turn: 't', ...shape })
  expect(JSON.stringify(kept)).not.toContain(SECRET)
})

test.each<TurnEvent>([
  { type: 'step-start', turn: 't', step: 1 },
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'usage', turn: 't', scope: 'turn', usage: { input: 3 } } as TurnEvent,
])('$type has no content, and stays', (event) => {
  expect(shapeOf(event)).toEqual(event)
})

test('the shape of a shape is the shape', () => {
  for (const [event] of SHAPES) {
    const once = shapeOf({ turn: 't', ...event } as TurnEvent)
    expect(shapeOf(once)).toEqual(once)
  }
})
