import type { AgentProcOptions } from './options.ts'

/** The text's own defaults of the profile fields that change together. */
const MAX_REPLY_CHARS = 8000
const TRUNCATION_SUFFIX = '\n\n…(truncated)'

/** The part of one text that a cap lets through. `cut` says that some of it is missing. */
export interface Capped {
  text: string
  /** Set on the text at which the cap was reached first. */
  suffix: string
  cut: boolean
}

/** Counts code points up to a limit over several texts; never splits a surrogate pair. */
export class Cap {
  readonly #suffix: string
  #left: number
  #reached = false

  /** `limit` in code points; `suffix` is what marks the cut. */
  constructor(limit: number, suffix: string) {
    this.#left = limit
    this.#suffix = suffix
  }

  /** The next text, as far as there is room. */
  take(text: string): Capped {
    let end = 0
    while (end < text.length && this.#left > 0) {
      end += text.codePointAt(end)! > 0xffff ? 2 : 1
      this.#left -= 1
    }
    const cut = end < text.length
    const suffix = cut && !this.#reached ? this.#suffix : ''
    this.#reached ||= cut
    return { text: cut ? text.slice(0, end) : text, suffix, cut }
  }
}

/** The cap of a profile: one that it chose itself cuts silently unless it names a suffix too. */
export function capOf({ max_reply_chars, truncation_suffix }: AgentProcOptions): Cap {
  const suffix = max_reply_chars === undefined ? TRUNCATION_SUFFIX : ''
  return new Cap(max_reply_chars ?? MAX_REPLY_CHARS, truncation_suffix ?? suffix)
}
