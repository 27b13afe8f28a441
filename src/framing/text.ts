import { type Frame, frameText } from '../contract/index.ts'
import type { FrameDecoder, FrameSink } from './decoder.ts'
import { LineDecoder, type LineRules } from './lines.ts'

const RULES: LineRules = { stripBom: false, accepts: () => true }

/** Raw lines, blank ones and a byte order mark kept. `limit` is per line, in UTF-16 units. */
export function textDecoder(limit: number, sink: FrameSink): FrameDecoder {
  return new LineDecoder(limit, sink, RULES)
}

/** A frame as a line; a frame that holds LFs is that many lines. */
export function encodeText(frame: Frame): string {
  return `${frameText(frame)}\n`
}
