import type { Item } from './items.ts'

/** Something that did not survive a translation, as a value. */
export interface Loss {
  /**
   * `dropped`: gone. `weakened`: arrived with less. `invented`: made up because the target requires it. `unparsed`: not
   * understood.
   */
  kind: 'dropped' | 'weakened' | 'invented' | 'unparsed'
  item: Item
  /** The field within the item, in the wire's own name. */
  field?: string
  why: 'no-place' | 'too-narrow' | 'required' | 'policy' | 'unknown' | 'precision'
  count: number
}

/** Losses of one exchange: equal ones are counted together, so the list stays small whatever the turn's length. */
export class LossLedger {
  #losses: Loss[] = []

  /** Adds a loss, or its count to an equal one. */
  add(loss: Loss): void {
    const same = this.#equalTo(loss)
    if (same) same.count += loss.count
    else this.#losses.push({ ...loss })
  }

  /** Removes losses that did not happen after all. */
  subtract(losses: readonly Loss[]): void {
    for (const loss of losses) {
      const same = this.#equalTo(loss)
      if (same) same.count -= loss.count
    }
    this.#losses = this.#losses.filter(({ count }) => count > 0)
  }

  /** Empties the ledger and returns its losses. */
  clear(): readonly Loss[] {
    const losses = this.#losses
    this.#losses = []
    return losses
  }

  get list(): readonly Loss[] {
    return this.#losses
  }

  #equalTo({ kind, item, field, why }: Loss): Loss | undefined {
    return this.#losses.find(
      (known) => known.kind === kind && known.item === item && known.field === field && known.why === why,
    )
  }
}

/** The header form of a loss report, such as `dropped=1;weakened=2`; undefined when nothing was lost. */
export function lossSummary(losses: readonly Loss[]): string | undefined {
  const sums = new Map<string, number>()
  for (const loss of losses) sums.set(loss.kind, (sums.get(loss.kind) ?? 0) + loss.count)
  return sums.size === 0 ? undefined : [...sums].map(([kind, count]) => `${kind}=${count}`).join(';')
}
