import { countedPieces, type Frame, type FrameRun, type Framing, framesOf } from '../contract/index.ts'
import { bodyDecoder, encodeBody } from './body.ts'
import type { FrameDecoder, FrameSink } from './decoder.ts'
import { encodeNdjson, ndjsonDecoder } from './ndjson.ts'
import { encodeSse, encodeSseRun, sseDecoder } from './sse.ts'
import { encodeText, textDecoder } from './text.ts'

export type { FrameDecoder, FrameSink } from './decoder.ts'

const DECODERS: Readonly<Record<Framing, (limit: number, sink: FrameSink) => FrameDecoder>> = {
  ndjson: ndjsonDecoder,
  text: textDecoder,
  sse: sseDecoder,
  body: bodyDecoder,
}

const ENCODERS: Readonly<Record<Framing, (frame: Frame) => string>> = {
  ndjson: encodeNdjson,
  text: encodeText,
  sse: encodeSse,
  body: encodeBody,
}

/**
 * A decoder of one wire. `limit` counts the UTF-16 units of one frame; a longer one is a single fault
 * `payload-too-large`, after which the decoder is silent and holds nothing.
 */
export function frameDecoder(framing: Framing, limit: number, sink: FrameSink): FrameDecoder {
  return DECODERS[framing](limit, sink)
}

/** The text of the frames of a run on a wire. */
export function encodeRun(framing: Framing, run: FrameRun): string {
  if (framing === 'sse') return encodeSseRun(run)
  if (framing === 'body') return framesOf(run).map(encodeBody).join('')
  const { before, after } = run
  return `${before}${countedPieces(run).join(`${after}\n${before}`)}${after}\n`
}

/** The text of a frame on a wire, as `frameDecoder` of the same framing reads it. */
export function encodeFrame(framing: Framing, frame: Frame): string {
  return ENCODERS[framing](frame)
}
