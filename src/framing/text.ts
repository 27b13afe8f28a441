import { type Frame, frameText } from '../contract/index.ts'
import type { FrameDecoder, FrameSink } from './decoder.ts'
import { LineDecoder } from './lines.ts'

/** Raw lines, blank ones kept; a byte order mark before the first is dropped. `limit` is per line, in UTF-16 units. */
export function textDecoder(limit: number, sink: FrameSink): FrameDecoder {
  return new LineDecoder(limit, sink, () => true)
}

/** A frame as a line; a frame that contains LFs becomes several lines. */
export function encodeText(frame: Frame): string {
  return `${frameText(frame)}\n`
}
