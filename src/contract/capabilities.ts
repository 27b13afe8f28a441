import { ITEMS, type Item } from '../model/index.ts'

/** The degree to which one half of a dialect carries an item. */
export type Level = 'full' | 'partial' | 'none'

/**
 * The level of every item in one half of a dialect. `none`: the engine drops it and reports the loss once per exchange;
 * the codec never sees it. `partial`: the codec carries it and reports what it weakens.
 */
export type Capabilities = Readonly<Record<Item, Level>>

/** A complete table from the items that are carried; everything not named is `none`. */
export function capabilities(table: { full: readonly Item[]; partial?: readonly Item[] }): Capabilities {
  const levels = Object.fromEntries(ITEMS.map((item) => [item, 'none'])) as Record<Item, Level>
  for (const item of table.partial ?? []) levels[item] = 'partial'
  for (const item of table.full) levels[item] = 'full'
  return levels
}
