import type { Id } from '../../../src/model/index.ts'

interface Call {
  tool: Id
  wireId: string
  name: string
  /** The arguments that came in pieces. */
  pieces: string
  called: boolean
  ended: boolean
}

/** Tells apart the tool calls of one turn. The first call of an id keeps it; a later one gets a number. */
export class ToolCalls {
  readonly #byWireId = new Map<string, Call[]>()
  readonly #used = new Set<Id>()
  /** The calls of the current round by the number that their pieces have. */
  readonly #drafts = new Map<number, Call>()

  /** True once there was one. */
  get any(): boolean {
    return this.#byWireId.size > 0
  }

  /** A whole call. */
  call(wireId: string, name: string): Call {
    const call = this.#add(wireId, name)
    call.called = true
    return call
  }

  /** The first piece of a call. */
  start(index: number, wireId: string, name: string): Call {
    const call = this.#add(wireId, name)
    this.#drafts.set(index, call)
    return call
  }

  /** The call that a piece goes on with; some providers repeat its id on every piece. */
  draft(index: number, wireId: string | undefined): Call | undefined {
    const call = this.#drafts.get(index)
    return wireId === undefined || call?.wireId === wireId ? call : undefined
  }

  /** Ends the round: the calls of which only pieces came. */
  endRound(): Call[] {
    const drafts = [...this.#drafts.values()]
    this.#drafts.clear()
    for (const call of drafts) call.called = true
    return drafts
  }

  /** The call that a display is about; its id may have the prefix `call_` that the call itself has not. */
  shown(wireId: string): Call | undefined {
    const calls = this.#byWireId.get(wireId) ?? this.#byWireId.get(wireId.replace(/^call_/, ''))
    return calls?.find((call) => !call.ended)
  }

  #add(wireId: string, name: string): Call {
    const calls = this.#byWireId.get(wireId) ?? []
    let tool = wireId
    for (let number = calls.length + 1; this.#used.has(tool); number += 1) tool = `${wireId}#${number}`
    this.#used.add(tool)
    const call = { tool, wireId, name, pieces: '', called: false, ended: false }
    calls.push(call)
    this.#byWireId.set(wireId, calls)
    return call
  }
}
