import type { Capabilities } from '../../contract/index.ts'
import { type Command, type Item, itemsOf, type Loss, type Part, type TurnStart } from '../../model/index.ts'

/** Decides whether an item is dropped; `field` names it within its item. */
export type Drop = (item: Item, field?: string) => boolean

const PARTS = itemsOf('part')

/**
 * The input without the parts and the fields of parts that are dropped. The history's parts stay as they are, because no
 * back reads more of them than it has a place for, but their fields are lost too.
 */
export function carryInput({ input }: TurnStart, history: TurnStart['history'], drop: Drop): readonly Part[] {
  const kept = input.filter((part) => !drop(PARTS[part.type]!))
  let isBare = false
  const found: Drop = (item, field) => {
    const isDropped = drop(item, field)
    if (item === 'part.ext') isBare = isDropped
    return isDropped
  }
  visitFields(kept, found)
  if (history) for (const { parts } of history) visitFields(parts, found)
  return isBare ? kept.map((part) => (part.ext ? withoutExt(part) : part)) : kept
}

/**
 * Reports the fields of parts in what a running turn gets, the result of a client's tool or further input, that the back
 * has no place for.
 */
export function reportFields(
  capabilities: Capabilities,
  command: Exclude<Command, TurnStart>,
  report: (loss: Loss) => void,
): void {
  const drop: Drop = (item, field) => {
    if (capabilities[item] !== 'none') return false
    report({ kind: 'dropped', item, ...(field !== undefined && { field }), why: 'no-place', count: 1 })
    return true
  }
  if (command.type === 'turn-steer') visitFields(command.input, drop)
  if (command.type !== 'ask-reply' || command.reply.kind !== 'tool') return
  const { ext, parts } = command.reply
  if (ext) drop('part.ext', ext.protocol)
  visitFields(parts, drop)
}

/** The part without the fields of a protocol. */
export function withoutExt({ ext: _, ...part }: Part): Part {
  return part
}

/** Passes the fields of protocols and the sources of parts, also of those within the results of tools, to `drop`. */
function visitFields(parts: readonly Part[], drop: Drop): void {
  // A stack instead of recursion: results may hold results, as deep as a client likes.
  const open = [parts]
  for (let list = open.pop(); list; list = open.pop()) {
    for (const part of list) {
      if (part.ext) drop('part.ext', part.ext.protocol)
      if (part.type === 'tool-reply') open.push(part.parts)
      if (part.type !== 'text' || part.citations === undefined) continue
      for (const { ext } of part.citations) if (!drop('citation') && ext) drop('part.ext', ext.protocol)
    }
  }
}
