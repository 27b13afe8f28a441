import { type DeltaWire, type PlainDelta, valuesOf } from '../../../../src/codec-kit/index.ts'
import type { CallPiece } from './call-piece.ts'
import { readChunk, type Said } from './chunks.ts'

type Kind = 'text' | 'reasoning' | 'refusal'
const CALLS: readonly CallPiece[] = []
/** The content of a chunk that is only a piece of this kind. */
const SAID: Readonly<Record<Kind, (text: string) => Said>> = {
  text: (text) => ({ text, calls: CALLS }),
  reasoning: (reasoning) => ({ reasoning, calls: CALLS }),
  refusal: (refusal) => ({ refusal, calls: CALLS }),
}
const KINDS = Object.keys(SAID) as readonly Kind[]

/** A chunk that is only a piece. */
export type ChunkDelta = PlainDelta & { kind: Kind }

/** The chunks of one answer. Some servers hide how long a piece is by padding. */
export const CHUNKS: DeltaWire<Said, ChunkDelta> = {
  changing: valuesOf('obfuscation'),
  read: readChunk,
  deltaOf(said) {
    const kind = KINDS.find((name) => said[name] !== undefined)
    if (!kind || said.calls.length > 0 || Object.keys(said).length !== 2) return undefined
    return { kind, text: said[kind]! }
  },
  another: ({ kind }, text) => SAID[kind](text),
}
