import { beginningOf } from '../../model/index.ts'

/** The UTF-16 units that are kept of one side of a turn: of its beginning, and of its end. */
const HEAD_UNITS = 196_608
const TAIL_UNITS = 65_536
/** The UTF-16 units that are kept of one frame. */
const FRAME_UNITS = 32_768

/**
 * A frame of a wire. `in`: the gateway has read it; `out`: it has written it. `seq` is the number of the event that it
 * was read as, or written for. `cut`: not all of its text is here, or, without a text, frames were left out.
 */
export interface WireFrame {
  dir: 'in' | 'out'
  /** Milliseconds since the epoch. */
  at?: number
  seq?: number
  text: string
  cut?: true
}

/** Both wires of a turn. */
export interface Wire {
  client: readonly WireFrame[]
  agent: readonly WireFrame[]
}

/** The number of a turn's newest event. */
interface Numbers {
  readonly seq: number
}

/** Keeps the frames of a turn's two wires, as far as they fit: of each the beginning and the end. */
export class Tape {
  readonly #now: () => number
  readonly #clean: (text: string) => string
  readonly #client = new Side()
  readonly #agent = new Side()
  #view: Numbers = { seq: 0 }

  /** `now` is milliseconds since the epoch; `clean` takes secrets out of a text. */
  constructor(now: () => number, clean: (text: string) => string) {
    this.#now = now
    this.#clean = clean
  }

  /** Numbers frames by this view from here on. */
  follow(view: Numbers): void {
    this.#view = view
  }

  /** A frame of the client. It belongs to the newest event, or to the first one, which it asks for. */
  client(dir: 'in' | 'out', text: string): void {
    this.#client.add({ dir, at: this.#now(), seq: Math.max(1, this.#view.seq), text })
  }

  /** A frame that is written to the agent. */
  toAgent(text: string): void {
    this.#agent.add({ dir: 'out', at: this.#now(), seq: this.#view.seq, text })
  }

  /** A frame that the agent has written; `decode` reads its events. */
  fromAgent(text: string, decode: () => void): void {
    const before = this.#view.seq
    // Before its events: the last of them may end the turn, and with it the tape.
    const frame: WireFrame = { dir: 'in', at: this.#now(), seq: before + 1, text }
    const kept = this.#agent.add(frame)
    decode()
    if (this.#view.seq === before) delete kept.seq
  }

  /** All frames, without the secrets of the gateway; `redact` removes those of its agents. */
  wire(redact: (text: string) => string): Wire {
    const clean = (text: string): string => this.#clean(redact(text))
    const cleaned = (side: Side): WireFrame[] => side.frames.map((frame) => ({ ...frame, text: clean(frame.text) }))
    return { client: cleaned(this.#client), agent: cleaned(this.#agent) }
  }
}

/** The frames of one side. */
class Side {
  readonly #head: WireFrame[] = []
  readonly #tail: WireFrame[] = []
  #headUnits = 0
  #tailUnits = 0
  #left = false

  get frames(): readonly WireFrame[] {
    const gap: WireFrame[] = this.#left ? [{ dir: 'out', text: '', cut: true }] : []
    return [...this.#head, ...gap, ...this.#tail]
  }

  /** Adds a frame; returns it as it is kept. */
  add(frame: WireFrame): WireFrame {
    const kept = cut(frame)
    const units = unitsOf(kept)
    if (this.#tail.length === 0 && this.#headUnits + units <= HEAD_UNITS) {
      this.#head.push(kept)
      this.#headUnits += units
      return kept
    }
    this.#tail.push(kept)
    this.#tailUnits += units
    while (this.#tailUnits > TAIL_UNITS) {
      this.#tailUnits -= unitsOf(this.#tail.shift()!)
      this.#left = true
    }
    return kept
  }
}

function cut(frame: WireFrame): WireFrame {
  return frame.text.length <= FRAME_UNITS ? frame : { ...frame, text: beginningOf(frame.text, FRAME_UNITS), cut: true }
}

/** An empty frame counts too. */
function unitsOf({ text }: WireFrame): number {
  return text.length + 64
}
