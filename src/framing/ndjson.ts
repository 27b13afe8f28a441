import { type Frame, frameText } from '../contract/index.ts'
import { hasLineEnd } from '../model/index.ts'
import type { FrameDecoder, FrameSink } from './decoder.ts'
import { LineDecoder } from './lines.ts'

/**
 * One JSON value per line (RFC 8259 texts, LF between them); blank lines are skipped. `limit` is per line, in UTF-16
 * units.
 */
export function ndjsonDecoder(limit: number, sink: FrameSink): FrameDecoder {
  return new LineDecoder(limit, sink, (line) => !isBlank(line))
}

/**
 * A JSON value as one line. JSON strings hold no raw line breaks, so one in a frame is white space between tokens and
 * becomes a space; a CR too, because some readers break lines at it.
 */
export function encodeNdjson(frame: Frame): string {
  const text = frameText(frame)
  const line = hasLineEnd(text) ? text.replace(/[\r\n]/g, ' ') : text
  return `${line}\n`
}

/** True when a line holds only the white space of JSON (RFC 8259, section 2); no other space counts. */
function isBlank(line: string): boolean {
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at)
    if (code !== 32 && code !== 9 && code !== 13) return false
  }
  return true
}
