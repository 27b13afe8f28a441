import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Id, Part } from '../../../../src/model/index.ts'
import type { CallPiece, Said } from './chunks.ts'

/** A call that the model made. */
export interface ModelCall {
  tool: Id
  name: string
  args: string
}

/** One answer of the model while it streams: emits its text, reasoning and calls as events of the turn. */
export class ModelAnswer {
  readonly #turn: Id
  readonly #ports: BackPorts
  readonly #executorOf: (name: string) => 'client' | 'agent'
  readonly #calls = new Map<number, ModelCall>()
  /** The HTTP status of the call. */
  status = 200
  /** The reason for its end, once it was given. */
  finish: string | undefined
  #message: Id | undefined
  #text = ''
  #reasoning = ''

  /** `executorOf` says who runs the tool of a name. */
  constructor(turn: Id, ports: BackPorts, executorOf: (name: string) => 'client' | 'agent') {
    this.#turn = turn
    this.#ports = ports
    this.#executorOf = executorOf
  }

  /** The calls that it made, in order. */
  get calls(): readonly ModelCall[] {
    return [...this.#calls.values()]
  }

  /** Its text and calls, as the parts of a message. */
  get parts(): readonly Part[] {
    const calls = this.calls.map(({ tool, name, args }): Part => ({ type: 'tool-call', tool, name, args }))
    return [...(this.#text === '' ? [] : [{ type: 'text' as const, text: this.#text }]), ...calls]
  }

  /** Takes a piece in. */
  take({ text, reasoning, refusal, calls, finish }: Said): void {
    const turn = this.#turn
    this.finish ??= finish
    if (reasoning !== undefined) {
      this.#reasoning += reasoning
      this.#ports.emit({ type: 'reasoning-delta', turn, message: this.#open(), text: reasoning })
    }
    const said = text ?? refusal
    if (said !== undefined) {
      const message = this.#open(text === undefined)
      this.#text += said
      this.#ports.emit({ type: 'text-delta', turn, message, text: said })
    }
    for (const piece of calls) this.#call(piece)
  }

  /** It is complete: its message ends, and its calls have all of their arguments. */
  end(): void {
    const turn = this.#turn
    const calls = this.calls
    if (this.#message !== undefined || calls.length > 0) {
      const parts = calls.length === 0 ? undefined : this.#wholeParts()
      this.#ports.emit({ type: 'message-end', turn, message: this.#open(), ...(parts && { parts }) })
    }
    for (const { tool, name, args } of calls) {
      this.#ports.emit({ type: 'tool-call', turn, tool, name, args, executor: this.#executorOf(name) })
    }
  }

  #wholeParts(): readonly Part[] {
    return [...(this.#reasoning === '' ? [] : [{ type: 'reasoning' as const, text: this.#reasoning }]), ...this.parts]
  }

  #open(refuses = false): Id {
    if (this.#message !== undefined) return this.#message
    const message = this.#ports.newId()
    this.#message = message
    const phase = refuses ? ({ phase: 'refusal' } as const) : {}
    this.#ports.emit({ type: 'message-start', turn: this.#turn, message, role: 'assistant', ...phase })
    return message
  }

  #call({ index, id, name = '', args }: CallPiece): void {
    const turn = this.#turn
    const known = this.#calls.get(index)
    const call = known ?? { tool: id ?? `call_${this.#ports.newId()}`, name, args: '' }
    if (!known) {
      this.#calls.set(index, call)
      const executor = this.#executorOf(name)
      this.#ports.emit({ type: 'tool-start', turn, tool: call.tool, message: this.#open(), name, executor })
    }
    if (args === '') return
    call.args += args
    this.#ports.emit({ type: 'tool-args-delta', turn, tool: call.tool, text: args })
  }
}
