/** The rows of a long list that are worth drawing: those in sight and a few around. */
export interface Window {
  from: number
  to: number
}

/** Rows that are drawn above and below those in sight, so that scrolling shows no gaps. */
const AROUND = 12

/** The rows in sight of `rows` rows of `height` pixels, in a frame of `frame` pixels that is scrolled by `top`. */
export function windowOf(rows: number, height: number, top: number, frame: number): Window {
  const first = Math.floor(top / height) - AROUND
  const last = Math.ceil((top + frame) / height) + AROUND
  const to = Math.min(rows, Math.max(0, last))
  return { from: Math.max(0, Math.min(first, to)), to }
}
