import type { BackLink, CallEnd, CallHead, Frame, WireText } from '../contract/index.ts'
import type { Command, CommandOf, TextRun, TurnStart } from '../model/index.ts'

/** One turn, with the calls of it and their answers. */
export interface CallTurn {
  /** Opens its first call. */
  begin(): void
  cancel(): void
  /** Absent when the protocol has no questions. */
  reply?(command: CommandOf<'ask-reply'>): void
  /** Absent when the protocol takes no further input. */
  steer?(command: CommandOf<'turn-steer'>): void
  /** Absent when its calls have none. */
  head?(head: CallHead): void
  frame(frame: Frame): void
  /** Absent when its pieces of text are only read one by one. */
  texts?(wire: WireText): TextRun | undefined
  callEnd(end: CallEnd): void
}

/**
 * A link of an agent that is only called for turns: each turn has its own calls, and no state is kept between turns.
 */
export class TurnBack implements BackLink {
  readonly #open: (start: Command & TurnStart) => CallTurn
  #turn: CallTurn | undefined

  constructor(open: (start: Command & TurnStart) => CallTurn) {
    this.#open = open
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') {
      this.#turn = this.#open(command)
      this.#turn.begin()
    } else if (command.type === 'turn-cancel') this.#turn?.cancel()
    else if (command.type === 'turn-steer') this.#turn?.steer?.(command)
    else if (command.type === 'ask-reply') this.#turn?.reply?.(command)
  }

  decodeHead(head: CallHead): void {
    this.#turn?.head?.(head)
  }

  decode(frame: Frame): void {
    this.#turn?.frame(frame)
  }

  decodeTexts(wire: WireText): TextRun | undefined {
    return this.#turn?.texts?.(wire)
  }

  decodeEnd(end: CallEnd): void {
    this.#turn?.callEnd(end)
  }
}
