import type { Frame, WireText } from '../contract/index.ts'
import { type Fault, fault } from '../model/index.ts'

/** Receives the frames of a decoder, in order. Its methods never throw. */
export interface FrameSink {
  frame(frame: Frame): void
  /** May read frames like the last one from the text that they stand in. */
  texts?(wire: WireText): void
  /** The one fault of a decoder: the boundary of the frames is lost and nothing follows. */
  fault(fault: Fault): void
}

/** Turns decoded text into frames. Synchronous; any split of the text into chunks gives the same frames. */
export interface FrameDecoder {
  /** The next piece of the wire. Ignored after `end` or a fault. */
  push(text: string): void
  /** The wire ended. A second call is ignored. */
  end(): void
}

/** The byte order mark, which is only allowed at the start of a stream. */
export const BOM = 0xfeff

/** The fault of a frame that is longer than `limit` UTF-16 units; `setting` names the limit in the configuration. */
export function tooLarge(what: string, limit: number, setting: string): Fault {
  return fault(
    'payload-too-large',
    `A ${what} is longer than the limit of ${limit} characters; send smaller messages or raise ${setting}.`,
  )
}
