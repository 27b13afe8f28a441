import type { Capabilities, Level } from '../contract/index.ts'
import type { Item } from '../model/index.ts'
import { itemsOf, type Pair } from './pairs.ts'

/** An item that does not survive a pair as it was said, and why. */
export interface PairLoss {
  readonly item: Item
  readonly kind: 'weakened' | 'lost'
  readonly why: string
}

/** The capabilities of both sides of a pair. */
export interface Sides {
  front: Capabilities
  back: Capabilities
}

/** The losses of a pair: first what is lost, then what is weakened. */
export function lossesOf(pair: Pair, { front, back }: Sides): PairLoss[] {
  return (['lost', 'weakened'] as const).flatMap((kind) =>
    itemsOf(pair, kind).map((item) => ({ item, kind, why: whyOf(kind, pair, front[item], back[item]) })),
  )
}

function whyOf(kind: PairLoss['kind'], { client, agent }: Pair, front: Level, back: Level): string {
  const lacking = kind === 'lost' ? 'none' : 'partial'
  const sides = [
    ...(front === lacking ? [`clients of ${client}`] : []),
    ...(back === lacking ? [`agents of ${agent}`] : []),
  ]
  if (sides.length === 0) {
    return kind === 'lost'
      ? 'It is of one protocol, and the other has no place for it.'
      : 'What holds it is shown without it.'
  }
  const [first, ...others] = sides
  const who = [`${first![0]!.toUpperCase()}${first!.slice(1)}`, ...others].join(' and ')
  return kind === 'lost' ? `${who} have no place for it.` : `${who} can express it in part.`
}
