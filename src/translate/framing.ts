import type { CallHead, Framing } from '../contract/index.ts'

/** The framing of an HTTP answer with this head. */
export function framingOfAnswer({ headers }: CallHead, otherwise: Framing): Framing {
  return headers['content-type']?.startsWith('text/event-stream') === true ? 'sse' : otherwise
}

/** The framing of text without a head: a body that begins like an event stream is one. */
export function framingOfText(text: string, otherwise: Framing): Framing {
  return otherwise === 'body' && /^(?:event|data|id|retry)?:/.test(text) ? 'sse' : otherwise
}
