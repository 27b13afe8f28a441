/** True when a body of this content type may be JSON; an absent one is fine. */
export function mayBeJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^application\/([\w.+-]+\+)?(x-nd)?json\s*(;|$)/i.test(contentType.trim())
}

/** True when the client asks for an answer of lines. */
export function acceptsLines(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*application\/x-ndjson\s*(;|,|$)/i.test(accept)
}
