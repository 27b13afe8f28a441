import type { Id } from '../../../src/model/index.ts'

interface Call {
  readonly id: Id
  called: boolean
}

/**
 * The gateway's ids of the tool calls that have no result yet, by the wire's own. The wire may give several calls one
 * id: what it says of it goes to the oldest call that still waits for that.
 */
export class ToolIds {
  readonly #open = new Map<string, Call[]>()

  /** A call whose arguments follow. */
  start(wire: string, id: Id): Id {
    return this.#add(wire, { id, called: false }).id
  }

  /** The call whose arguments come in pieces. */
  drafting(wire: string): Id | undefined {
    return this.#calls(wire).findLast(({ called }) => !called)?.id
  }

  /** The call that is whole now; one that did not start before gets an id. */
  call(wire: string, newId: () => Id): Id {
    const call = this.#calls(wire).find(({ called }) => !called) ?? this.#add(wire, { id: newId(), called: true })
    call.called = true
    return call.id
  }

  /** The call that runs. */
  running(wire: string): Id | undefined {
    return this.#calls(wire)[0]?.id
  }

  /** The call that has ended. */
  end(wire: string): Id | undefined {
    return this.#calls(wire).shift()?.id
  }

  #calls(wire: string): Call[] {
    return this.#open.get(wire) ?? []
  }

  #add(wire: string, call: Call): Call {
    const calls = this.#calls(wire)
    calls.push(call)
    this.#open.set(wire, calls)
    return call
  }
}
