import type { EventOf, LinkEvent, Loss, TurnEvent } from '../model/index.ts'
import { carriesEvent } from './carry.ts'
import type { Exchange } from './exchange.ts'
import type { LiveView } from './view.ts'

/** An exchange with its own fold of the turn (the first one shares the turn's). */
interface Member {
  exchange: Exchange
  view: LiveView
}

/** The exchanges that follow one turn. A plain array: events are handed on in one synchronous loop. */
export class Audience {
  #members: Member[] = []
  #first: Exchange | undefined

  add(exchange: Exchange, view: LiveView): void {
    this.#first ??= exchange
    this.#members.push({ exchange, view })
  }

  remove(exchange: Exchange): void {
    this.#members = this.#members.filter((member) => member.exchange !== exchange)
  }

  /** The exchange that started the turn. */
  isFirst(exchange: Exchange): boolean {
    return exchange === this.#first
  }

  /** Nobody waits for the turn any more. */
  get deserted(): boolean {
    return this.#members.every(({ exchange }) => exchange.ended)
  }

  /** Somebody does not keep up. */
  get clogged(): boolean {
    return this.#members.some(({ exchange }) => !exchange.ended && exchange.host.clogged)
  }

  /** Somebody can be shown this question and answer it while the turn runs. */
  canBeAsked(event: EventOf<'ask'>): boolean {
    return this.#members.some(
      ({ exchange }) =>
        !exchange.ended && exchange.answer.asks === 'inline' && carriesEvent(exchange.host.capabilities, event),
    )
  }

  /** Hands an event on; `own` is the turn's view, which has it already. */
  deliver(event: TurnEvent, own: LiveView, at: number): void {
    for (const { exchange, view } of this.#members) {
      if (view !== own) view.apply(event, at)
      exchange.deliver(event, view)
    }
  }

  /** Hands on an event that no turn owns. */
  tell(event: LinkEvent): void {
    for (const { exchange } of this.#members) if (!exchange.ended) exchange.host.encodeLink(event)
  }

  report(loss: Loss): void {
    for (const { exchange } of this.#members) exchange.report(loss)
  }
}
