import type { Capabilities } from '../../contract/index.ts'
import { type EventOf, type Item, isRetryable, type Loss, type TurnEvent } from '../../model/index.ts'
import { dropped, type ReportLoss, without } from './carry.ts'

/** Members that only some events have, by the event and the item that each is. */
const OPTIONAL: Partial<Record<TurnEvent['type'], readonly (readonly [member: string, item: Item])[]>> = {
  'turn-end': [
    ['summary', 'end.summary'],
    ['continuation', 'end.continuation'],
  ],
  'message-start': [['phase', 'message.phase']],
  'tool-start': [
    ['kind', 'tool.kind'],
    ['title', 'tool.title'],
  ],
}

/** Members that every event of their type has, or whose usual value goes without saying: losing one leaves the event. */
const WEAKENING: ReadonlySet<Item> = new Set([
  'end.stop',
  'fault.code',
  'fault.retryable',
  'message.phase',
  'tool.executor',
  'notice.code',
  'reasoning.seal',
])

/** The item that a member is lost with, when that has no place itself. */
const HOLDERS: Partial<Record<Item, Item>> = {
  'message.phase': 'message-start',
  'tool.executor': 'tool-call',
  'notice.code': 'notice',
  'reasoning.seal': 'part.reasoning',
}

/** The item that a member is lost with; its own loss is not reported then. */
export function holderOf(item: Item): Item | undefined {
  return HOLDERS[item]
}

/** True when an event without this member is still shown. */
export function isWeakening(item: Item): boolean {
  return WEAKENING.has(item)
}

/** The loss of a member that the other side has no place for. */
export function memberLoss(item: Item): Loss {
  return isWeakening(item) ? { kind: 'weakened', item, why: 'no-place', count: 1 } : dropped(item)
}

/** Reports the members of an event that is not shown, except those that all events of its type have. */
export function reportMembers(capabilities: Capabilities, event: TurnEvent, report: ReportLoss): void {
  const losing = OPTIONAL[event.type]?.filter((entry) => isLost(capabilities, event, entry)) ?? []
  for (const [, item] of losing) report(memberLoss(item))
}

/** The event without the members that the front has no place for; each is reported. */
export function carryMembers(capabilities: Capabilities, event: TurnEvent, report: ReportLoss): TurnEvent {
  reportValues(capabilities, event, report)
  const losing = OPTIONAL[event.type]?.filter((entry) => isLost(capabilities, event, entry))
  if (losing === undefined || losing.length === 0) return event
  for (const [, item] of losing) report(memberLoss(item))
  return without(event, (key) => losing.some(([member]) => member === key))
}

function isLost(capabilities: Capabilities, event: TurnEvent, [member, item]: readonly [string, Item]): boolean {
  if (capabilities[item] !== 'none') return false
  const value: unknown = event[member as keyof TurnEvent]
  // A message is part of the answer unless its phase says otherwise.
  return value !== undefined && value !== 'final'
}

/** Reports values other than the usual ones. */
function reportValues(capabilities: Capabilities, event: TurnEvent, report: ReportLoss): void {
  for (const item of unusual(event)) if (capabilities[item] === 'none') report(memberLoss(item))
}

function unusual(event: TurnEvent): readonly Item[] {
  switch (event.type) {
    case 'turn-end':
      return unusualEnd(event)
    case 'tool-call':
      return event.executor === 'agent' ? [] : ['tool.executor']
    case 'message-end':
      return event.parts?.some((part) => part.type === 'reasoning' && part.seal) ? ['reasoning.seal'] : []
    case 'notice':
      return ['notice.code']
    default:
      return []
  }
}

/** The usual stop of each outcome. */
const STOPS = { completed: 'end', cancelled: 'aborted', failed: 'error' } as const

function unusualEnd({ outcome, stop, fault }: EventOf<'turn-end'>): readonly Item[] {
  const items: Item[] = []
  if (stop !== undefined && stop !== STOPS[outcome]) items.push('end.stop')
  if (outcome !== 'failed' || fault === undefined) return items
  if (fault.code !== 'internal') items.push('fault.code')
  if (fault.retryable !== isRetryable(fault.code)) items.push('fault.retryable')
  return items
}
