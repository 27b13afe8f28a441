import type { BackPorts } from '../../../../src/contract/index.ts'
import { type Id, type JsonText, member, type Part, parse } from '../../../../src/model/index.ts'
import { PROTOCOL } from '../../wire.ts'
import type { Item } from './events.ts'

/** Tools that the server runs itself: their items are calls that already have results. */
export class ProviderCalls {
  readonly #turn: Id
  readonly #ports: BackPorts
  readonly #tools = new Map<number, Id>()

  constructor(turn: Id, ports: BackPorts) {
    this.#turn = turn
    this.#ports = ports
  }

  /** A call begins. */
  begin(at: number, item: Item): void {
    if (!item.type.endsWith('_call')) return
    const tool = item.id ?? this.#ports.newId()
    this.#tools.set(at, tool)
    this.#ports.emit({ type: 'tool-start', turn: this.#turn, tool, name: nameOf(item), executor: 'provider' })
  }

  /** A call has its result. Items that are no calls are passed on as they are. */
  done(at: number, item: Item, json: JsonText): void {
    const turn = this.#turn
    if (!item.type.endsWith('_call')) {
      this.#ports.emit({ type: 'foreign', turn, protocol: PROTOCOL, frame: json })
      return
    }
    if (!this.#tools.has(at)) this.begin(at, item)
    const tool = this.#tools.get(at)!
    const args = item.arguments ?? member(json, 'action') ?? '{}'
    this.#ports.emit({ type: 'tool-call', turn, tool, name: nameOf(item), args, executor: 'provider' })
    const failed = item.error != null || item['status'] === 'failed'
    this.#ports.emit({ type: 'tool-end', turn, tool, status: failed ? 'error' : 'ok', parts: resultOf(json) })
  }
}

/** The name of a tool: its own, or that of its type, such as `web_search`. */
function nameOf({ type, name }: Item): string {
  return name ?? type.replace(/_call$/, '')
}

/** The text of a result, or of an error; further fields of a call are of its type, and stay JSON. */
function resultOf(json: JsonText): readonly Part[] {
  const said = member(json, 'output') ?? member(json, 'results') ?? member(json, 'error')
  const value = said === undefined ? null : parse(said)
  if (value === null) return []
  return [typeof value === 'string' ? { type: 'text', text: value } : { type: 'data', json: said! }]
}
