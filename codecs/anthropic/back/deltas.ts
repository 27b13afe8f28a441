import type { DeltaWire, PlainDelta } from '../../../src/codec-kit/index.ts'
import { readEvent, type WireDelta, type WireEvent } from './events.ts'

type Kind = 'text' | 'thinking' | 'signature' | 'partial_json'
/** A piece of each kind. */
const PIECES: Readonly<Record<Kind, (text: string) => WireDelta>> = {
  text: (text) => ({ type: 'text_delta', text }),
  thinking: (thinking) => ({ type: 'thinking_delta', thinking }),
  signature: (signature) => ({ type: 'signature_delta', signature }),
  partial_json: (json) => ({ type: 'input_json_delta', partial_json: json }),
}
const KINDS = Object.keys(PIECES) as readonly Kind[]

/** A piece of the block of an index. */
export type BlockDelta = PlainDelta & { kind: Kind; index: number }

/** The events of one answer, and a whole answer; `unknown` is an event of a later version. */
export const EVENTS: DeltaWire<WireEvent | 'unknown', BlockDelta> = {
  read: readEvent,
  deltaOf(event) {
    if (event === 'unknown' || event.type !== 'content_block_delta') return undefined
    const { index, delta } = event
    const [kind, other] = KINDS.filter((name) => delta[name] != null)
    return kind && other === undefined ? { kind, text: delta[kind]!, index } : undefined
  },
  another: ({ kind, index }, text) => ({ type: 'content_block_delta', index, delta: PIECES[kind](text) }),
}
