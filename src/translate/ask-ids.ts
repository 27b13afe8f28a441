import type { Id, TurnEvent } from '../model/index.ts'
import type { Control } from './target.ts'

/** The ids that the questions of a turn have after they went through another protocol, by their own. */
export class AskIds {
  readonly #ids = new Map<Id, Id>()
  #shown: Id | undefined

  /** A front is shown this event; what it writes is read before it is shown the next one. */
  show(event: TurnEvent): void {
    this.#shown = event.type === 'ask' ? event.ask : undefined
  }

  /** A back reads what the front wrote. */
  read(event: TurnEvent): void {
    if (event.type === 'ask' && this.#shown !== undefined) this.#ids.set(this.#shown, event.ask)
  }

  /** The command with the id that its question has there. */
  translated(command: Control): Control {
    if (command.type !== 'ask-reply' || command.ask === undefined) return command
    return { ...command, ask: this.#ids.get(command.ask) ?? command.ask }
  }
}
