/**
 * One message of a wire: a line or a body is the string itself; an SSE event is an object. `call` names the call that
 * it belongs to. A `comment` of SSE is skipped by its readers: it only shows that the wire is alive.
 */
export type Frame = string | { data: string; event?: string; id?: string; call?: string; comment?: true }

/**
 * The mapping between bytes and frames. `ndjson`: one JSON value per line; `text`: raw lines, blank ones kept; `sse`:
 * events; `body`: all bytes are one frame.
 */
export type Framing = 'ndjson' | 'text' | 'sse' | 'body'

/** The text of a frame, whatever its framing. */
export function frameText(frame: Frame): string {
  return typeof frame === 'string' ? frame : frame.data
}
