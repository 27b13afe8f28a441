import type { TurnInfoReply } from '../model/index.ts'
import { fitting, heading, row } from './tail-rows.ts'

/** The terminal that the view is on. */
export interface Terminal {
  rows: number
  columns: number
  write(text: string): void
}

/** The most turns that are kept; the oldest ended ones are dropped first. */
const MOST_TURNS = 500

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const END_OF_LINE = '\u001b[K'
const END_OF_SCREEN = '\u001b[J'

/**
 * The turns of a gateway on the whole screen: the running ones first, then those that ended last, as many as fit, with the columns that fit. The
 * earlier screen comes back when it is closed.
 */
export class TailScreen {
  readonly #terminal: Terminal
  readonly #colour: boolean
  /** The newest last. */
  readonly #turns = new Map<string, TurnInfoReply>()
  #open = true

  constructor(terminal: Terminal, colour: boolean) {
    this.#terminal = terminal
    this.#colour = colour
    terminal.write(ENTER)
    this.draw()
  }

  /** Takes the newest state of turns. */
  show(turns: readonly TurnInfoReply[]): void {
    for (const turn of turns) {
      this.#turns.delete(turn.turn)
      this.#turns.set(turn.turn, turn)
    }
    this.#forget()
    this.draw()
  }

  /** Redraws everything for the current size of the terminal. */
  draw(): void {
    if (!this.#open) return
    const all = [...this.#turns.values()]
    const running = all.filter(({ state }) => state === 'running')
    const ended = all.filter(({ state }) => state !== 'running').reverse()
    const failed = ended.filter(({ state }) => state === 'failed').length
    const { rows, columns } = this.#terminal
    const title = `turnpike: ${running.length} running, ${ended.length} ended, ${failed} failed   q: quit`
    const shown = fitting(columns)
    const lines = [...running, ...ended].slice(0, Math.max(0, rows - 2)).map((turn) => row(turn, this.#colour, shown))
    const text = [title, heading(shown), ...lines].map((line) => cut(line.trimEnd(), columns) + END_OF_LINE)
    this.#terminal.write(HOME + text.slice(0, rows).join('\r\n') + END_OF_SCREEN)
  }

  /** Restores the terminal. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#terminal.write(LEAVE)
  }

  #forget(): void {
    for (const [id, { state }] of this.#turns) {
      if (this.#turns.size <= MOST_TURNS) return
      if (state !== 'running') this.#turns.delete(id)
    }
  }
}

/** A line cut to the width of the terminal; colours take no room. */
function cut(line: string, columns: number): string {
  let room = columns
  let text = ''
  for (const piece of line.split(/(\u001b\[[0-9;]*m)/)) {
    if (piece.startsWith('\u001b')) text += piece
    else {
      text += piece.slice(0, room)
      room -= Math.min(room, piece.length)
    }
  }
  return text
}
