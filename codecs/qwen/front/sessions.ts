import { NEW_SESSION, promptId } from '../wire.ts'

/** The sessions of one client, and the ids of its turns in them. */
export class Sessions {
  readonly #newId: () => string
  readonly #turns = new Map<string, number>()
  readonly #lastPrompt = new Map<string, string>()
  #current: string | undefined

  /** `current` is the session of requests that name none; without it one is made when it is needed. */
  constructor(current: string | undefined, newId: () => string) {
    this.#current = current
    this.#newId = newId
  }

  /** The session of what names none. */
  get current(): string {
    this.#current ??= this.#newId()
    return this.#current
  }

  /** The session that a request means. One that brings its whole conversation has a session of its own. */
  of(named: string | undefined, standalone: boolean): string {
    if (named === NEW_SESSION) this.#current = this.#newId()
    else if (named === undefined && standalone) return this.#newId()
    else if (named !== undefined) return named
    return this.current
  }

  /** The id of a turn: the client's own, else the next of its session; what goes on with a turn has the same id. */
  prompt(session: string, named: string | undefined, isContinued: boolean): string {
    const last = this.#lastPrompt.get(session)
    if (named === undefined && isContinued && last !== undefined) return last
    const turn = (this.#turns.get(session) ?? 0) + 1
    this.#turns.set(session, turn)
    const prompt = named ?? promptId(session, turn)
    this.#lastPrompt.set(session, prompt)
    return prompt
  }
}
