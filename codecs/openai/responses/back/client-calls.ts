import { flatToolName, type ModelCall } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Id } from '../../../../src/model/index.ts'
import type { DeclaredTools } from '../../declared-tools.ts'
import type { Item } from './events.ts'

/** Calls of tools that the gateway's client may have declared, by their place in the output. */
export class ClientCalls {
  readonly #turn: Id
  readonly #ports: BackPorts
  readonly #tools: DeclaredTools
  readonly #calls = new Map<number, ModelCall>()

  constructor(turn: Id, ports: BackPorts, tools: DeclaredTools) {
    this.#turn = turn
    this.#ports = ports
    this.#tools = tools
  }

  /** All calls, in order. */
  get list(): readonly ModelCall[] {
    return [...this.#calls.values()]
  }

  /** The call at a place. */
  at(at: number): ModelCall | undefined {
    return this.#calls.get(at)
  }

  /** A call begins, in the message that `open` gives. */
  begin(at: number, { call_id, name, namespace }: Item, open: () => Id): void {
    const flat = flatToolName({ name: name ?? '', ...(namespace != null && { namespace }) })
    const executor = this.#tools.get(flat) ? 'client' : 'agent'
    const used = this.list.some(({ tool: other }) => other === call_id)
    const tool = call_id == null || used ? `call_${this.#ports.newId()}` : call_id
    this.#calls.set(at, { tool, name: flat, args: '', executor })
    this.#ports.emit({ type: 'tool-start', turn: this.#turn, tool, message: open(), name: flat, executor })
  }

  /** A piece of the arguments of the call at a place. */
  argue(at: number, delta: string): void {
    const call = this.#calls.get(at)
    if (!call || delta === '') return
    call.args += delta
    this.#ports.emit({ type: 'tool-args-delta', turn: this.#turn, tool: call.tool, text: delta })
  }
}
