import { type BodyOf, unparsed } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import type { Id, Item, JsonText, TurnEvent } from '../../../src/model/index.ts'
import { toExt } from '../wire.ts'

/** Emits the events of one turn and one lane of it. */
export class Emitter {
  readonly turn: Id
  readonly lane: string | undefined
  readonly #ports: BackPorts

  constructor(ports: BackPorts, turn: Id, lane?: string) {
    this.#ports = ports
    this.turn = turn
    this.lane = lane
  }

  /** The hot path: a piece of text without unknown fields. */
  text(message: Id, text: string): void {
    if (this.lane === undefined) this.#ports.emit({ turn: this.turn, type: 'text-delta', message, text })
    else this.#ports.emit({ turn: this.turn, lane: this.lane, type: 'text-delta', message, text })
  }

  /** Any event; `extra` are the unknown members of its line. */
  emit(event: BodyOf<TurnEvent, 'lane' | 'ext'>, extra?: JsonText): void {
    const ext = toExt(extra)
    const address = this.lane === undefined ? { turn: this.turn } : { turn: this.turn, lane: this.lane }
    this.#ports.emit({ ...address, ...event, ...(ext && { ext }) } as TurnEvent)
  }

  /** Something of the wire was not understood. */
  unparsed(item: Item, field?: string): void {
    this.#ports.report(unparsed(item, field), this.turn)
  }

  newId(): Id {
    return this.#ports.newId()
  }
}
