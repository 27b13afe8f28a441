import type { Item, Loss, TurnView } from '../model/index.ts'
import { isDropped } from './tools.ts'

/** Receives what a wire has no place for. */
export type Report = (loss: Loss) => void

type Why = Loss['why']

/** An item, or a field of it, that does not reach the other wire. */
export function dropped(item: Item, field?: string, why: Why = 'no-place'): Loss {
  return loss('dropped', item, field, why)
}

/** An item, or a field of it, that reaches the other wire in another form. */
export function weakened(item: Item, field?: string, why: Why = 'no-place'): Loss {
  return loss('weakened', item, field, why)
}

/** An item, or a field of it, that the other wire requires and that was not sent. */
export function invented(item: Item, field?: string): Loss {
  return loss('invented', item, field, 'required')
}

/** An item, or a field of it, that cannot be read. */
export function unparsed(item: Item, field?: string): Loss {
  return loss('unparsed', item, field, 'unknown')
}

/** A text as UTF-8 holds it: half a character becomes U+FFFD, a loss. */
export function wellFormed(text: string, report: Report, field?: string): string {
  const whole = text.toWellFormed()
  if (whole !== text) report(loss('weakened', 'part.text', field, 'too-narrow'))
  return whole
}

function loss(kind: Loss['kind'], item: Item, field: string | undefined, why: Why): Loss {
  return field === undefined ? { kind, item, why, count: 1 } : { kind, item, field, why, count: 1 }
}

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
