import { expect, test } from 'vitest'
import { type EventTable, writeEvent } from '../../src/codec-kit/index.ts'
import type { TurnEvent, TurnView } from '../../src/model/index.ts'

const TABLE: EventTable<string[]> = {
  'turn-accepted': null,
  'turn-started': null,
  'turn-parked': null,
  'turn-end': null,
  'step-start': null,
  'step-end': null,
  'message-start': null,
  'text-delta': (written, { text }, view) => written.push(text, view.text),
  'reasoning-delta': null,
  'reasoning-end': null,
  citation: null,
  'message-end': null,
  'message-retract': null,
  'tool-start': null,
  'tool-args-delta': null,
  'tool-call': null,
  'tool-progress': null,
  'tool-end': null,
  'terminal-output': null,
  directive: null,
  plan: null,
  usage: null,
  notice: null,
  ask: null,
  'ask-settled': null,
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
