import type { Item, Loss, TurnView } from '../model/index.ts'
import { isDropped } from './tools.ts'

/**
 * The losses of an answer that is text alone: everything else the turn contained. The notice of an empty answer is no
 * loss.
 */
export function nonTextLosses({ messages, tools, notices, usage }: TurnView): Loss[] {
  const counts: Partial<Record<Item, number>> = {
    'reasoning-delta': messages.filter(({ reasoning }) => reasoning !== '').length,
    'tool-call': tools.filter((tool) => !isDropped(tool)).length,
    notice: notices.filter(({ code }) => code !== 'empty-answer').length,
    usage: usage ? 1 : 0,
  }
  return (Object.entries(counts) as [Item, number][]).flatMap(([item, count]) =>
    count === 0 ? [] : { kind: 'dropped', item, why: 'no-place', count },
  )
}
