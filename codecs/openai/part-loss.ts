import { dropped, weakened } from '../../src/codec-kit/index.ts'
import type { Loss, Part } from '../../src/model/index.ts'

/** Receives what the protocol has no form for. */
export type Report = (loss: Loss) => void

/** Receives a part that the protocol has no form for, or a field of it that has no place. */
export type LostPart = (part: Part, field?: string) => void

/** Receives parts without a form in this protocol, and their fields. */
export function partLoss(report: Report): LostPart {
  return (part, field) => {
    if (field === 'ext') report(dropped('part.ext', part.ext!.protocol))
    else if (field === 'citations') report(dropped('citation'))
    else report(field === undefined ? dropped(`part.${part.type}`) : weakened(`part.${part.type}`, field))
  }
}

/** True for a list that has something in it. */
export function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}
