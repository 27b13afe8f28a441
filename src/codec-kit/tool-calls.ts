import type { Id } from '../model/index.ts'

interface Call {
  readonly tool: Id
  called: boolean
}

/**
 * The tool calls of one turn that have no result yet, by the wire's own ids. The wire may give several calls the same
 * id, at once or one after the other: a message about an id belongs to the oldest call that still waits for it.
 */
export class ToolCalls {
  readonly #open = new Map<string, Call[]>()
  readonly #nameOf: (wireId: string) => Id

  /** `nameOf` gives a new call its id in the turn. */
  constructor(nameOf: (wireId: string) => Id) {
    this.#nameOf = nameOf
  }

  /** Adds a new call at its first message. */
  start(wireId: string): Id {
    return this.#add(wireId).tool
  }

  /** The call whose arguments are streamed: the newest that is not announced yet. */
  drafting(wireId: string): Id | undefined {
    return this.#calls(wireId).findLast(({ called }) => !called)?.tool
  }

  /** The call that is announced with its whole arguments. */
  call(wireId: string): Id {
    const call = this.#calls(wireId).find(({ called }) => !called) ?? this.#add(wireId)
    call.called = true
    return call.tool
  }

  /** The call that runs. */
  running(wireId: string): Id | undefined {
    return this.#calls(wireId)[0]?.tool
  }

  /** The call that ended. */
  end(wireId: string): Id | undefined {
    return this.#calls(wireId).shift()?.tool
  }

  /** Names the calls of one message, in its order, before they are announced one by one. */
  namer(): (wireId: string) => Id {
    const seen = new Map<string, number>()
    return (wireId) => {
      const index = seen.get(wireId) ?? 0
      seen.set(wireId, index + 1)
      const drafts = this.#calls(wireId).filter(({ called }) => !called)
      return (drafts[index] ?? this.#add(wireId)).tool
    }
  }

  #calls(wireId: string): Call[] {
    return this.#open.get(wireId) ?? []
  }

  #add(wireId: string): Call {
    const calls = this.#calls(wireId)
    const call = { tool: this.#nameOf(wireId), called: false }
    calls.push(call)
    this.#open.set(wireId, calls)
    return call
  }
}

/** Makes unique ids from those of the wire: the first call keeps its id, later ones get a number. */
export function numberedIds(): (wireId: string) => Id {
  const used = new Set<Id>()
  const counts = new Map<string, number>()
  return (wireId) => {
    let count = counts.get(wireId) ?? 0
    let id: Id
    do {
      count += 1
      id = count === 1 ? wireId : `${wireId}#${count}`
    } while (used.has(id))
    counts.set(wireId, count)
    used.add(id)
    return id
  }
}
