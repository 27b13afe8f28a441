import type { Item, Loss, TurnEvent } from '../../src/model/index.ts'

/** Plain words for losses. */

const KINDS: Readonly<Record<Loss['kind'], string>> = {
  dropped: 'did not arrive',
  weakened: 'arrived with less',
  invented: 'was made up',
  unparsed: 'was not understood',
}

const REASONS: Readonly<Record<Loss['why'], string>> = {
  'no-place': 'the other protocol has no place for it',
  'too-narrow': 'its place in the other protocol is too narrow',
  required: 'the other protocol requires a value',
  policy: 'the configuration withholds it',
  unknown: 'its meaning is not known',
  precision: 'the other protocol is less precise',
}

/** A loss as a sentence: `2 × reasoning-delta did not arrive: the other protocol has no place for it`. */
export function lossText({ kind, item, field, why, count }: Loss): string {
  const what = `${count > 1 ? `${count} × ` : ''}${item}${field === undefined ? '' : ` (${field})`}`
  return `${what} ${KINDS[kind]}: ${REASONS[why]}`
}

/** The sum of losses. */
export function lossCount(losses: readonly Loss[] | undefined): number {
  return (losses ?? []).reduce((sum, { count }) => sum + count, 0)
}

/** Groups of items whose losses show at an event of another name, by the part before the dot. */
const EVENTS_OF: Readonly<Record<string, readonly TurnEvent['type'][]>> = {
  usage: ['usage'],
  end: ['turn-end'],
  fault: ['turn-end'],
  ask: ['ask'],
  message: ['message-start'],
  tool: ['tool-start'],
  notice: ['notice'],
  reasoning: ['reasoning-end'],
}

/** True for items of the client's request, which come before every event. */
export function isOfRequest(item: Item): boolean {
  return /^(?:start|option|session|query)\.|^(?:turn-start|config-set|session-)/.test(item)
}

/** True when a loss of this item can have happened at this event. */
export function isLostAt(item: Item, event: TurnEvent): boolean {
  if (item === event.type) return true
  const [group = '', name = ''] = item.split('.')
  if (name === '') return item === 'ext' && event.ext !== undefined
  if (group === 'part') return 'parts' in event && (event.parts ?? []).some(({ type }) => type === name)
  if (group === 'ask') return event.type === 'ask' && event.question.kind === name
  return EVENTS_OF[group]?.includes(event.type) ?? false
}
