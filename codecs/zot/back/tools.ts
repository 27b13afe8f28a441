import type { Id } from '../../../src/model/index.ts'

/** One tool call of the running prompt. */
interface Call {
  tool: Id
  called: boolean
  ended: boolean
}

/**
 * Tells apart the tool calls of one prompt. The wire may give several calls one id, at once or one after the other, so
 * what it says of an id goes to the oldest call that still waits for it. The first call of an id keeps it.
 */
export class ToolCalls {
  readonly #byWireId = new Map<string, Call[]>()
  readonly #used = new Set<Id>()

  /** A new call, known from its first sign on. */
  start(wireId: string): Id {
    return this.#add(wireId).tool
  }

  /** The call whose arguments are streamed: the newest that is not announced yet. */
  drafting(wireId: string): Id | undefined {
    return this.#calls(wireId).findLast((call) => !call.called)?.tool
  }

  /** The call that is announced with its whole arguments. */
  call(wireId: string): Id {
    const call = this.#calls(wireId).find((known) => !known.called) ?? this.#add(wireId)
    call.called = true
    return call.tool
  }

  /** The call that runs. */
  running(wireId: string): Id | undefined {
    return this.#calls(wireId).find((call) => !call.ended)?.tool
  }

  /** The call that ended. */
  end(wireId: string): Id | undefined {
    const call = this.#calls(wireId).find((known) => !known.ended)
    if (call) call.ended = true
    return call?.tool
  }

  /** Names the calls of one message, in its order, before they are announced one by one. */
  namer(): (wireId: string) => Id {
    const seen = new Map<string, number>()
    return (wireId) => {
      const index = seen.get(wireId) ?? 0
      seen.set(wireId, index + 1)
      const open = this.#calls(wireId).filter((call) => !call.called)
      return (open[index] ?? this.#add(wireId)).tool
    }
  }

  #calls(wireId: string): Call[] {
    return this.#byWireId.get(wireId) ?? []
  }

  #add(wireId: string): Call {
    const calls = this.#calls(wireId)
    let tool = wireId
    for (let number = calls.length + 1; this.#used.has(tool); number += 1) tool = `${wireId}#${number}`
    const call = { tool, called: false, ended: false }
    this.#used.add(tool)
    calls.push(call)
    this.#byWireId.set(wireId, calls)
    return call
  }
}
