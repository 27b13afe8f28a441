/** True when the client asks for an answer of lines. */
export function acceptsLines(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*application\/x-ndjson\s*(;|,|$)/i.test(accept)
}
