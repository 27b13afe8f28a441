import { steadyFrom, Tape } from '../common/index.ts'
import {
  keyOf,
  needsRecord,
  type Recorder,
  type StoreWatch,
  type TurnBeginning,
  tellUnrecorded,
} from '../record/index.ts'
import type { LiveTurns, Watches } from '../session/index.ts'
import { keepsContent, newTurn, type Turn, TurnClock, type TurnPeers } from '../turn/index.ts'
import { type Entry, infoOf, scopeOf } from './entry.ts'
import type { Place } from './placement.ts'

/** Dependencies of `TurnStarter`. */
export interface StarterPeers {
  turns: LiveTurns
  recorder: Recorder
  watch: StoreWatch
  /** Clients that follow every turn. */
  watches: Watches
  /** Milliseconds since the epoch. */
  now(): number
  /** Removes secrets from a text that is kept. */
  clean(text: string): string
}

/** Begins turns: each is recorded, accepted, and may run when those before it in its session are done. */
export class TurnStarter {
  readonly #peers: StarterPeers
  readonly #ofTurns: TurnPeers<Turn>

  /** `ofTurns` is what each turn works with. */
  constructor(peers: StarterPeers, ofTurns: TurnPeers<Turn>) {
    this.#peers = peers
    this.#ofTurns = ofTurns
  }

  /** Begins the turn that a request asks for, at its place. */
  async begin(entry: Entry, { agents, session }: Place): Promise<void> {
    const { turns, watches, watch } = this.#peers
    const { command, route, exchange } = entry
    const turn: Turn = newTurn(
      { command, route, agents, session, exchange, scope: this.#clock(entry, agents[0]!, () => watches.changed(turn)) },
      this.#ofTurns,
    )
    if (turn.tape) entry.client.tap?.record(exchange, turn.tape)
    for (const loss of entry.losses ?? []) turn.loss(loss)
    turns.add(turn)
    session.enqueue(turn)
    watches.changed(turn)
    await this.#record(turn, entry)
    if (turn.ended) return
    turn.accept()
    if (turn.agent !== entry.agent) turn.tellFallback(entry.agent.name)
    if (!watch.keeps(turn)) tellUnrecorded(turn)
    if (!exchange.settleCancel()) session.ready(turn)
  }

  #clock(entry: Entry, agent: Place['agents'][number], changed: () => void): TurnClock {
    const { scope, options } = entry.client
    const info = infoOf(entry, agent)
    const now = steadyFrom(this.#peers.now())
    const tape = keepsWire(entry) ? new Tape(now, this.#peers.clean) : undefined
    return new TurnClock({
      inner: scope.turn(info),
      info,
      front: options.front.name,
      now,
      changed,
      ...(tape && { tape }),
    })
  }

  /** Resolves when the turn is recorded, or known not to be. */
  async #record(turn: Turn, entry: Entry): Promise<void> {
    const { client, command, exchange, told } = entry
    const { recorder, watch } = this.#peers
    const { access, front } = client.options
    const promised = needsRecord(command, exchange)
    watch.began(turn, promised)
    const shown = exchange.answer.form !== 'whole'
    const beginning: TurnBeginning = { tenant: access.tenant, front: front.name, promised: promised || shown }
    if (told) beginning.told = told
    if (command.once) beginning.claim = keyOf(scopeOf(entry), command.once)
    await recorder.begin(turn, beginning)
  }
}

/** True for a turn whose frames are kept. */
function keepsWire({ route, command }: Entry): boolean {
  return route.journal === 'wire' && keepsContent({ route, command })
}
