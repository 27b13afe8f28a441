import { expect, test } from 'vitest'
import { type EventTable, TOOL_CALLS, unwritten, writeEvent } from '../../src/codec-kit/index.ts'
import type { TurnEvent, TurnView } from '../../src/model/index.ts'

const TABLE: EventTable<string[]> = {
  ...unwritten('turn-accepted', 'turn-started', 'turn-parked', 'turn-end', 'step-start', 'step-end'),
  ...unwritten('message-start', 'message-end', 'message-retract', 'reasoning-delta', 'reasoning-end', 'citation'),
  ...unwritten(...TOOL_CALLS),
  ...unwritten('terminal-output', 'directive', 'plan', 'usage', 'notice', 'ask', 'ask-settled'),
  'text-delta': (written, { text }, view) => written.push(text, view.text),
  foreign: (written, { frame }) => written.push(frame),
}

const view = { text: 'so far' } as TurnView

test.each<[TurnEvent, string[]]>([
  [{ type: 'text-delta', turn: 't', message: 'm', text: 'hi' }, ['hi', 'so far']],
  [{ type: 'foreign', turn: 't', protocol: 'p', frame: '{}' }, ['{}']],
  [{ type: 'turn-started', turn: 't' }, []],
])('an event is written by the function of its type', (event, written) => {
  const lines: string[] = []
  writeEvent(TABLE, lines, event, view)
  expect(lines).toEqual(written)
})

test('the rows of events that are not written are null, and no others', () => {
  expect(unwritten('plan', 'ask')).toEqual({ plan: null, ask: null })
  expect(unwritten()).toEqual({})
})
