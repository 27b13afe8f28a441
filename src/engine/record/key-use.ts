import { type DaySpent, type Store, StoreError } from '../../contract/index.ts'
import { type Fault, fault, type Id } from '../../model/index.ts'
import type { CurrentSettings, TurnLimits } from '../common/index.ts'
import type { LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import { DayUse } from './day-use.ts'
import type { Lease } from './lease.ts'
import { spentBy } from './spent.ts'
import type { StoreWatch } from './store-watch.ts'

/** The time after a failure until a place is given back again, in milliseconds. */
const AGAIN_MS = 1000

/** Dependencies of the limits of keys. */
export interface KeyUseParts {
  store: Store
  lease: Lease
  watch: StoreWatch
  turns: LiveTurns
  settings: CurrentSettings
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * The turns that keys have at the same time, and what they use in a day, within their limits. Both are kept in the store,
 * so that they hold for all processes that share it. While it cannot be used, each process counts its own turns.
 */
export class KeyUse {
  readonly #parts: KeyUseParts
  readonly #days: DayUse
  /** The turns that have a place, or may have one. */
  readonly #placed = new Set<Id>()
  /** The turns whose place the store has to be given back. */
  readonly #over = new Set<Id>()

  constructor(parts: KeyUseParts) {
    this.#parts = parts
    this.#days = new DayUse(parts.store, parts.now)
  }

  /** Takes a place for a turn of a tenant; the fault of one that may not have another turn. */
  take(tenant: string, turn: Id): Fault | undefined | Promise<Fault | undefined> {
    const limits = this.#limitsOf(tenant)
    return limits && this.#take(tenant, turn, limits)
  }

  /** Gives back the place of a turn that has ended, or does not begin. */
  give(turn: Id): void {
    if (!this.#placed.delete(turn)) return
    this.#over.add(turn)
    void this.#giveBack()
  }

  /** Gives back the places of ended turns; those that the store does not take now, a little later. */
  async #giveBack(): Promise<void> {
    const { store, watch } = this.#parts
    try {
      for (const turn of this.#over) {
        await store.givePlace(turn)
        this.#over.delete(turn)
      }
    } catch (error) {
      watch.failed(error)
      if (error instanceof StoreError) setTimeout(() => void this.#giveBack(), AGAIN_MS).unref()
    }
  }

  /** Gives back the place of a turn that has its end. Returns its use if its tenant has such a limit. */
  ended(turn: Turn): DaySpent | undefined {
    this.give(turn.id)
    const { tenant } = turn.session.record
    const limits = this.#limitsOf(tenant)
    if (!limits || !isDaily(limits)) return undefined
    const spent = spentBy(turn)
    this.#days.add(tenant, spent)
    return spent
  }

  #limitsOf(tenant: string): TurnLimits | undefined {
    return this.#parts.settings.current.turnLimits?.get(tenant)
  }

  async #take(tenant: string, turn: Id, limits: TurnLimits): Promise<Fault | undefined> {
    const { turns: most } = limits
    try {
      const spent = isDaily(limits) ? await this.#days.refusal(tenant, limits) : undefined
      if (spent || most === undefined) return spent
      return (await this.#hasPlace(tenant, turn, most)) ? undefined : tooMany(most)
    } catch (error) {
      const { watch, turns } = this.#parts
      watch.unavailable(error)
      return most !== undefined && turns.countOf(tenant) >= most ? tooMany(most) : undefined
    }
  }

  async #hasPlace(tenant: string, turn: Id, most: number): Promise<boolean> {
    const { store, lease } = this.#parts
    const { owner, epoch } = await lease.hold()
    // A store that fails may have given the place all the same: only a refusal says that there is none to give back.
    this.#placed.add(turn)
    const taken = await store.takePlace({ turn, tenant, owner, epoch }, most)
    if (!taken) this.#placed.delete(turn)
    return taken
  }
}

function isDaily({ tokensPerDay, usdPerDay }: TurnLimits): boolean {
  return tokensPerDay !== undefined || usdPerDay !== undefined
}

/** The fault of a tenant that has reached its limit of turns. */
function tooMany(most: number): Fault {
  const turns = most === 1 ? 'a turn' : `${most} turns`
  return fault('overloaded', `This key has ${turns} under way, which is all that it may; send this one when one ends.`)
}
