import type { CallHead, Framing } from '../contract/index.ts'

/** How an HTTP answer with this head is framed. */
export function framingOfAnswer({ headers }: CallHead, otherwise: Framing): Framing {
  return headers['content-type']?.startsWith('text/event-stream') === true ? 'sse' : otherwise
}

/** How text without a head is framed: a body that begins like an event stream is one. */
export function framingOfText(text: string, otherwise: Framing): Framing {
  return otherwise === 'body' && /^(?:event|data|id|retry)?:/.test(text) ? 'sse' : otherwise
}
