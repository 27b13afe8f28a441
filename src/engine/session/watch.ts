import { type Fault, fault, type Id, type TurnInfoReply, type TurnsArgs, type TurnsReply } from '../../model/index.ts'
import type { Exchange } from '../client/index.ts'
import { liveInfo, type Turn } from '../turn/index.ts'
import type { LiveTurns } from './live-turns.ts'
import { matchesTurn, type TurnConditions } from './turn-filter.ts'

/** The most clients that may follow all turns at once. */
const MAX_WATCHES = 64
/** The most turns that wait for a client that does not keep up; beyond it the oldest are left out. */
const MAX_BEHIND = 1_000
/** The interval at which a client that did not keep up is tried again, in milliseconds. */
const RETRY_MS = 100

/** The owner of the turns that a client follows: one tenant, everybody (`tenant` is absent), or nobody. */
export type Scope = { tenant?: string } | 'none'

/** One client that follows turns. */
interface Watch {
  exchange: Exchange
  scope: Scope
  conditions: TurnConditions
  /** The newest state of each turn that it has not been sent yet. */
  behind: Map<string, TurnInfoReply>
  retry?: NodeJS.Timeout
}

/**
 * The clients that follow the turns that they may see. A turn is sent when its state changes (a handful of times),
 * never for its events; a slow client gets only the newest state of each turn.
 */
export class Watches {
  readonly #turns: LiveTurns
  readonly #watches = new Set<Watch>()
  /** The number of clients that have begun to follow. */
  added = 0

  constructor(turns: LiveTurns) {
    this.#turns = turns
  }

  /**
   * Sends the exchange the running turns that match, then every change, until its client leaves. `state` is no
   * condition here, so that the client sees a turn leave it.
   */
  add(exchange: Exchange, scope: Scope, { state: _state, key: _key, ...conditions }: TurnsArgs): Fault | undefined {
    this.#sweep()
    if (this.#watches.size >= MAX_WATCHES) {
      return fault('overloaded', `${MAX_WATCHES} clients follow the turns already; end one of them.`)
    }
    const watch: Watch = { exchange, scope, conditions, behind: new Map() }
    this.#watches.add(watch)
    this.added += 1
    tell(
      watch,
      this.#turns.values().flatMap((turn) => shownTo(watch, turn, liveInfo(turn)) ?? []),
    )
    return undefined
  }

  /** True while a client follows. */
  get any(): boolean {
    this.#sweep()
    return this.#watches.size > 0
  }

  /** Sends a turn of another process. `of` has its tenant, and the gateway's id of its session. */
  tell(info: TurnInfoReply, { tenant, session }: { tenant: string; session: Id }): void {
    for (const watch of this.#watches) {
      if (maySee(watch.scope, tenant) && matchesTurn(info, session, watch.conditions)) push(watch, info)
    }
  }

  /** The state of a turn has changed. */
  changed(turn: Turn): void {
    if (this.#watches.size === 0) return
    this.#sweep()
    let info: TurnInfoReply | undefined
    for (const watch of this.#watches) {
      if (!isOf(watch.scope, turn)) continue
      info ??= liveInfo(turn)
      if (shownTo(watch, turn, info)) push(watch, info)
    }
  }

  /** Ends every watch: the gateway stops. */
  close(): void {
    for (const { exchange, retry } of this.#watches) {
      clearTimeout(retry)
      exchange.reply({})
    }
    this.#watches.clear()
  }

  /** Forgets those whose client has left. */
  #sweep(): void {
    for (const watch of this.#watches) {
      if (!watch.exchange.ended) continue
      clearTimeout(watch.retry)
      this.#watches.delete(watch)
    }
  }
}

function isOf(scope: Scope, { session: { record } }: Turn): boolean {
  return maySee(scope, record.tenant)
}

function maySee(scope: Scope, tenant: string): boolean {
  return scope !== 'none' && (scope.tenant === undefined || scope.tenant === tenant)
}

/** The turn as it is listed, if the client may see it and wants to. */
function shownTo({ scope, conditions }: Watch, turn: Turn, info: TurnInfoReply): TurnInfoReply | undefined {
  return isOf(scope, turn) && matchesTurn(info, turn.session.record.id, conditions) ? info : undefined
}

function push(watch: Watch, info: TurnInfoReply): void {
  if (!watch.exchange.host.client.clogged && watch.behind.size === 0) {
    tell(watch, [info])
    return
  }
  watch.behind.delete(info.turn)
  watch.behind.set(info.turn, info)
  const [oldest] = watch.behind.keys()
  if (watch.behind.size > MAX_BEHIND) watch.behind.delete(oldest!)
  watch.retry ??= setTimeout(() => catchUp(watch), RETRY_MS).unref()
}

function catchUp(watch: Watch): void {
  delete watch.retry
  if (watch.exchange.ended) return
  if (watch.exchange.host.client.clogged) {
    watch.retry = setTimeout(() => catchUp(watch), RETRY_MS).unref()
    return
  }
  const infos = [...watch.behind.values()]
  watch.behind.clear()
  tell(watch, infos)
}

function tell({ exchange }: Watch, turns: readonly TurnInfoReply[]): void {
  const data = JSON.stringify({ turns } satisfies TurnsReply)
  exchange.host.encodeLink({ turn: null, type: 'command-reply', exchange: exchange.id, data, more: true }, exchange)
}
