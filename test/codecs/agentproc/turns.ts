import type { EventOf, Part, TurnEvent } from '../../../src/model/index.ts'

/** The middle of a turn between its start and its end. */
export function turn(middle: TurnEvent[], end: Partial<EventOf<'turn-end'>> = {}): TurnEvent[] {
  return [
    { type: 'turn-started', turn: 't1' },
    ...middle,
    { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end', ...end },
  ]
}

/** A message that was streamed in these deltas. */
export function streamed(message: string, ...texts: string[]): TurnEvent[] {
  return [
    { type: 'message-start', turn: 't1', message, role: 'assistant' },
    ...texts.map((text) => ({ type: 'text-delta' as const, turn: 't1', message, text })),
    { type: 'message-end', turn: 't1', message },
  ]
}

/** A message that came whole. */
export function whole(message: string, ...parts: (string | Part)[]): TurnEvent[] {
  return [
    { type: 'message-start', turn: 't1', message, role: 'assistant' },
    {
      type: 'message-end',
      turn: 't1',
      message,
      parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
    },
  ]
}

/** The engine has taken the turn. */
export const accepted: EventOf<'turn-accepted'> = { type: 'turn-accepted', turn: 't1', how: 'new', session: 'sess-abc' }
