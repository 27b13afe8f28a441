import type { Exchange, RecordedAgent, RecordedClient } from '../engine/replay/index.ts'
import type { Command, Fault, Id, Loss, Target as Meant, TurnEvent, TurnStart } from '../model/index.ts'
import type { Target, TurnTarget } from './target.ts'

/** A turn on its way from a recorded agent to its own client, if that is recorded, and to the target. */
export class Flow {
  readonly turn: Id
  readonly agent: RecordedAgent | undefined
  readonly #command: Command & TurnStart
  readonly #target: Target
  readonly #reader: { exchange: Exchange; client: RecordedClient } | undefined
  #told: TurnTarget | undefined
  #begun = false
  /** Events from before the turn was certain. */
  readonly #held: TurnEvent[] = []
  /** Its acceptance, while its client may not have been told. */
  #pending: TurnEvent | undefined
  #accepted = false
  ended = false

  constructor(
    command: Command & TurnStart,
    agent: RecordedAgent | undefined,
    target: Target,
    reader: { exchange: Exchange; client: RecordedClient } | undefined,
  ) {
    this.turn = command.turn
    this.agent = agent
    this.#command = command
    this.#target = target
    this.#reader = reader
  }

  /** The turn is certain: the target gets it with the held events. */
  begin(): void {
    if (this.#begun) return
    this.#begun = true
    this.#told = this.#target.start(this.#command)
    for (const event of this.#held.splice(0)) this.event(event)
  }

  /** `cut`: the event results from the end of the wire, not from a message. */
  event(event: TurnEvent, cut = false): void {
    if (!this.#begun) {
      this.#held.push(event)
      if (!cut && event.type !== 'turn-started') this.begin()
      return
    }
    if (event.type !== 'turn-accepted') this.#acceptBefore()
    else if (this.#accepted) return
    else this.#accepted = true
    if (event.type === 'turn-end') this.ended = true
    if (event.type !== 'turn-accepted') this.#told?.event(event)
    if (this.#reader) this.#reader.client.deliver(event, this.#reader.exchange)
  }

  /** It was accepted; its client is told when the agent's first message about it comes, or at its end. */
  willAccept(event: TurnEvent): void {
    this.#pending = event
  }

  #acceptBefore(): void {
    const pending = this.#pending
    this.#pending = undefined
    if (pending) this.event(pending)
  }

  /** Ends it; later events of its agent are ignored. */
  fail(fault: Fault): void {
    const end = { outcome: 'failed', stop: 'error', fault } as const
    this.agent?.abort(end)
    if (!this.ended) this.event({ ...end, turn: this.turn, type: 'turn-end' })
  }

  /** Reports a loss; false when there is no receiver for it. */
  loss(loss: Loss): boolean {
    if (this.#told) this.#told.loss(loss)
    else if (this.#reader) this.#reader.exchange.lost(loss)
    else return false
    return true
  }

  isMeantBy(target: Meant): boolean {
    if (target === 'running') return true
    if ('turn' in target) return target.turn === this.turn
    return 'request' in target && target.request === this.#command.request
  }
}
