/** Helpers for the one-shot client side of Zene. */
import { codec } from '../../../codecs/zene/index.ts'
import type { TurnEvent } from '../../../src/model/index.ts'
import { driveFront } from '../../kit/drive.ts'

/** The published command line. */
export const PUBLISHED = ['host', '--protocol', 'v1', '--bridge-compat', '--single-request']
/** The published minimum of a request. */
export const MINIMAL = '{"request_id":"r","session_id":"s","prompt":"Say hi"}'
/** The usage of an answer that has none to tell. */
export const ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

/** A one-shot stand-in. */
export const oneshot = (argv: readonly string[] = PUBLISHED, env: Record<string, string> = {}) =>
  driveFront(codec, { argv, env })
/** A line that was sent, parsed. */
export const line = (text: unknown): unknown => JSON.parse(String(text))

/** A turn that says nothing and ends. */
export const end = (more: Partial<TurnEvent> = {}): TurnEvent[] => [
  { type: 'turn-accepted', turn: 't1', how: 'new', session: 's1' },
  { type: 'turn-end', turn: 't1', outcome: 'completed', ...more } as TurnEvent,
]
