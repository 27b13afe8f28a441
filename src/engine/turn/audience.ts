import type { Answer } from '../../contract/index.ts'
import type { EventOf, LinkEvent, TurnEvent } from '../../model/index.ts'
import { carriesEvent } from '../carry/index.ts'
import type { Exchange } from '../client/index.ts'
import type { LiveView, Numbered } from '../events/index.ts'

/** An exchange with its own fold of the turn (the first one shares the turn's). */
interface Member {
  exchange: Exchange
  view: LiveView
  /** Events that came while it is shown earlier ones; absent once it is up to date. */
  later?: Numbered[]
}

/** The most exchanges that follow one turn: each has its own fold of it. */
export const MOST_FOLLOWERS = 256

/** The exchanges that follow one turn. A plain array: events are handed on in one synchronous loop. */
export class Audience {
  #members: Member[] = []
  #first: Exchange | undefined

  add(exchange: Exchange, view: LiveView): void {
    this.#first ??= exchange
    this.#members.push({ exchange, view })
  }

  /**
   * Adds an exchange that has missed something. What happens from now on waits until the returned function has been
   * given the events that it missed, as far as they are recorded.
   */
  addLate(exchange: Exchange, view: LiveView, at: () => number): (missed: readonly Numbered[]) => void {
    const member: Member = { exchange, view, later: [] }
    this.#members.push(member)
    return (missed) => {
      const last = missed.at(-1)?.seq ?? 0
      const rest = member.later!.filter(({ seq }) => seq > last)
      delete member.later
      for (const numbered of [...missed, ...rest]) show(member, numbered, at())
    }
  }

  /** No further exchange may follow the turn. Forgets those that are over. */
  get full(): boolean {
    if (this.#members.length >= MOST_FOLLOWERS) this.#members = this.#members.filter(matters)
    return this.#members.length >= MOST_FOLLOWERS
  }

  remove(exchange: Exchange): void {
    this.#members = this.#members.filter((member) => member.exchange !== exchange)
  }

  /** Another agent answers: every answer names it. */
  moved(agent: string): void {
    for (const { view } of this.#members) view.agent = agent
  }

  /** The exchange that started the turn. */
  get first(): Exchange {
    return this.#first!
  }

  /**
   * True when the turn goes on after this exchange leaves: it only followed, or its answer or the route (`policy`) says
   * `drain`. A turn that was begun to go on without its client also goes on when others who asked for its answer leave.
   */
  isOutlived({ answer, follows }: Exchange, policy: Answer['onDisconnect'] | undefined): boolean {
    const { form, onDisconnect } = this.first.answer
    if (follows || form === 'accepted') return true
    return (policy ?? (onDisconnect === 'drain' ? onDisconnect : answer.onDisconnect)) === 'drain'
  }

  /** No exchange waits for the turn any more. */
  get deserted(): boolean {
    return this.#members.every(({ exchange }) => exchange.ended)
  }

  /** A client does not read as fast as it is written to. */
  get clogged(): boolean {
    return this.#members.some(({ exchange }) => !exchange.ended && exchange.host.client.clogged)
  }

  /** A client can be shown this question and answer it while the turn runs, or one is to come for that. */
  canBeAsked(event: EventOf<'ask'>): boolean {
    if (this.first.host.client.leavesAsks) return true
    return this.#members.some(({ exchange }) => !exchange.ended && exchange.asksInline && carriesAsk(exchange, event))
  }

  /** The next request of a client can answer this question. */
  canAnswerLater(event: EventOf<'ask'>): boolean {
    return this.#members.some(
      ({ exchange }) =>
        exchange.answer.asks === 'next-request' &&
        carriesAsk(exchange, event) &&
        (!exchange.ended || exchange.answer.form === 'accepted'),
    )
  }

  /** Hands an event on; `own` is the turn's view, which has it already. */
  deliver(event: TurnEvent, own: LiveView, at: number): void {
    for (const member of this.#members) {
      if (member.view === own) member.exchange.deliver(event, own)
      else if (member.exchange.ended) continue
      else if (member.later) member.later.push({ seq: own.seq, event })
      else show(member, { seq: own.seq, event }, at)
    }
  }

  /** True when nobody follows the turn but the exchange that started it, whose view is `own`, and that takes texts at once. */
  takesTexts(own: LiveView): boolean {
    return this.#members.every(({ exchange, view }) => view === own && exchange.takesTexts)
  }

  /** No client gets an end that the record refuses; one that asks again gets the recorded one. */
  cut(): void {
    for (const { exchange } of this.#members) exchange.host.client.refused = true
  }

  /** Hands on an event that no turn owns. */
  tell(event: LinkEvent): void {
    for (const { exchange } of this.#members) if (!exchange.ended) exchange.host.encodeLink(event, exchange)
  }
}

/** True while an exchange has something to come, or its client can still be asked by its next request. */
function matters({ exchange: { ended, answer } }: Member): boolean {
  return !ended || (answer.form === 'accepted' && answer.asks === 'next-request')
}

function show({ exchange, view }: Member, { seq, event }: Numbered, at: number): void {
  view.apply(event, at, seq)
  exchange.deliver(event, view)
}

function carriesAsk({ host }: Exchange, event: EventOf<'ask'>): boolean {
  return carriesEvent(host.capabilities, event)
}
