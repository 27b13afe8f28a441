import type { Frame, Framing } from '../../src/contract/index.ts'
import { type FrameDecoder, type FrameSink, frameDecoder } from '../../src/framing/index.ts'
import type { Fault } from '../../src/model/index.ts'

/** Everything that a decoder said, in order. */
export type Said = { frame: Frame } | { fault: Fault }

/** A sink that remembers. */
export function recorder(): FrameSink & { readonly said: Said[] } {
  const said: Said[] = []
  return { said, frame: (frame) => void said.push({ frame }), fault: (fault) => void said.push({ fault }) }
}

/** What a decoder says of these chunks and the end. */
export function decode(framing: Framing, chunks: readonly string[], limit = 1_000_000): Said[] {
  const sink = recorder()
  const decoder: FrameDecoder = frameDecoder(framing, limit, sink)
  for (const chunk of chunks) decoder.push(chunk)
  decoder.end()
  return sink.said
}

/** The frames of a text that has no fault. */
export function frames(framing: Framing, ...chunks: string[]): Frame[] {
  return decode(framing, chunks).map((one) => {
    if ('fault' in one) throw new Error(one.fault.message)
    return one.frame
  })
}
