/**
 * One message of a wire: a line or a body is the string itself; an SSE event is an object. `call` names the call that
 * it belongs to. A `comment` of SSE is skipped by its readers: it only shows that the wire is alive.
 */
export type Frame = string | { data: string; event?: string; id?: string; call?: string; comment?: true }

/**
 * Text of a wire where a frame begins `at`, after a frame that stood between `before` and `after`. Who reads further frames
 * that do moves `at` to their end. `call` is that of the frames.
 */
export interface WireText {
  readonly text: string
  at: number
  readonly before: string
  readonly after: string
  call?: string | undefined
}

/**
 * Frames that differ in a piece of their data: each is what stands `before` it, the piece, and what stands `after` it.
 * None of them has a line end. `count`: a number and a text stand between `before` and the piece. It and `id` are those of
 * the first frame, and count up.
 */
export interface FrameRun {
  event?: string
  before: string
  count?: { first: number; after: string }
  pieces: readonly string[]
  after: string
  id?: number
}

/** The pieces of a run, each after its number and the text that follows that. */
export function countedPieces({ count, pieces }: FrameRun): readonly string[] {
  return count ? pieces.map((piece, at) => `${count.first + at}${count.after}${piece}`) : pieces
}

/** The frames of a run. */
export function framesOf(run: FrameRun): Frame[] {
  const { event, before, after, id } = run
  return countedPieces(run).map((piece, at) => ({
    data: `${before}${piece}${after}`,
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id: String(id + at) }),
  }))
}

/**
 * The mapping between bytes and frames. `ndjson`: one JSON value per line; `text`: raw lines, blank ones kept; `sse`:
 * events; `body`: all bytes are one frame.
 */
export type Framing = 'ndjson' | 'text' | 'sse' | 'body'

/** The text of a frame, whatever its framing. */
export function frameText(frame: Frame): string {
  return typeof frame === 'string' ? frame : frame.data
}
