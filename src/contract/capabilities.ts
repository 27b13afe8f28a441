import { ITEMS, type Item } from '../model/index.ts'

/** The degree to which one half of a dialect carries an item. */
export type Level = 'full' | 'partial' | 'none'

/**
 * The level of every item in one half of a dialect. `none`: the engine drops it and reports the loss once per exchange;
 * the codec never sees it. `partial`: the codec carries it and reports what it weakens.
 */
export type Capabilities = Readonly<Record<Item, Level>>

/** Items, alone or in rows of those that belong together. */
export type ItemRows = readonly (Item | readonly Item[])[]

/** The table of a half that carries nothing, of which the others are copies: to make one costs a start 50 µs, to copy it 8. */
const NOTHING = Object.fromEntries(ITEMS.map((item) => [item, 'none'])) as Capabilities

/** A complete table from the items that are carried; everything not named is `none`. */
export function capabilities(table: { full: ItemRows; partial?: ItemRows }): Capabilities {
  const levels: Record<Item, Level> = { ...NOTHING }
  for (const item of table.partial?.flat() ?? []) levels[item] = 'partial'
  for (const item of table.full.flat()) levels[item] = 'full'
  return levels
}
