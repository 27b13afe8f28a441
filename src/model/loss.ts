import type { Item } from './items.ts'
import type { LOSS_KINDS, LOSS_REASONS } from './words.ts'

/** Something that did not survive a translation, as a value. */
export interface Loss {
  kind: (typeof LOSS_KINDS)[number]
  item: Item
  /** The field within the item, in the wire's own name. */
  field?: string
  why: (typeof LOSS_REASONS)[number]
  count: number
}

/** The side of the gateway on which something is lost: between it and an agent, or between it and a client. */
export type LossSide = 'agent' | 'client'

/** The direction that a loss occurs in: in a client's request, or in the answer to it. */
export type LossDirection = 'request' | 'response'

/** A loss with its side, as the record of a turn keeps it. */
export interface SidedLoss extends Loss {
  side: LossSide
}

/** The number of losses from which on further ones are counted without their fields, which a client may make up. */
const MAX_NAMED = 256

/**
 * Losses of one side: equal ones are counted together, and only so many are named by their fields, so the list stays
 * small whatever the turn's length and whatever a request holds.
 */
export class LossLedger {
  #losses: Loss[] = []

  /** Adds a loss, or its count to an equal one. */
  add(loss: Loss): void {
    addTo(this.#losses, loss)
  }

  /** Drops all of its losses. */
  clear(): void {
    this.#losses = []
  }

  get list(): readonly Loss[] {
    return this.#losses
  }
}

/** The losses of several lists as one: equal ones are counted together, and none has a side. */
export function mergedLosses(...lists: readonly (readonly Loss[])[]): readonly Loss[] {
  const merged: Loss[] = []
  for (const list of lists) for (const loss of list) addTo(merged, loss)
  return merged
}

function addTo(losses: Loss[], loss: Loss & Partial<SidedLoss>): void {
  const { kind, item, field, why, count } = loss
  const same = losses.find(
    (known) => known.kind === kind && known.item === item && known.field === field && known.why === why,
  )
  if (same) same.count += count
  else if (field !== undefined && losses.length >= MAX_NAMED) addTo(losses, { kind, item, why, count })
  else losses.push(withoutSide(loss))
}

/** A loss of its own, whose count may be changed. */
function withoutSide(loss: Loss & Partial<SidedLoss>): Loss {
  if (loss.side === undefined) return { ...loss }
  const { side: _, ...rest } = loss
  return rest
}

/** The header form of a loss report, such as `dropped=1;weakened=2`; undefined when nothing was lost. */
export function lossSummary(losses: readonly Loss[]): string | undefined {
  const sums = new Map<string, number>()
  for (const loss of losses) sums.set(loss.kind, (sums.get(loss.kind) ?? 0) + loss.count)
  return sums.size === 0 ? undefined : [...sums].map(([kind, count]) => `${kind}=${count}`).join(';')
}
