import type { Capabilities } from '../../contract/index.ts'
import { type EventOf, type Fault, type Item, itemsOf, type Part, type TurnEvent } from '../../model/index.ts'
import type { LiveView } from '../events/index.ts'
import { carriesEvent, dropped, type ReportLoss, without } from './carry.ts'
import { carryMembers, reportMembers } from './carry-members.ts'
import { carryParts } from './carry-parts.ts'

const COUNTS = itemsOf('usage')

/** Events that reach every front in the view, even where its wire has no event for them. */
const IN_VIEW: ReadonlySet<TurnEvent['type']> = new Set(['text-delta'])

/** A notice of the gateway about something that every client sees: the answer is empty. */
const SEEN_NOTICE = 'empty-answer'

/** Events that the view does not keep: an answer in one piece cannot show them. */
const NOT_IN_VIEW: ReadonlySet<TurnEvent['type']> = new Set([
  'foreign',
  'plan',
  'terminal-output',
  'step-start',
  'step-end',
  'tool-progress',
])

/** Events whose members are checked one by one: the front may have no place for some. */
type Composed = EventOf<'usage' | 'message-end' | 'tool-end' | 'tool-progress'>

/**
 * The event as a front is to encode it, without what it has no place for, or undefined when it is not to encode it at
 * all. Everything that the client will not be shown goes to `report`. `whole`: the answer is made from the view at its
 * end, so only events about the turn itself are encoded. `view` has the event already.
 */
export function carryEvent(
  capabilities: Capabilities,
  event: TurnEvent,
  whole: boolean,
  view: LiveView,
  report: ReportLoss,
): TurnEvent | undefined {
  // Most events are pieces of text, so they are tested first.
  if (event.type === 'text-delta' && !whole && event.ext === undefined && capabilities['text-delta'] !== 'none')
    return event
  if (!carriesEvent(capabilities, event)) {
    if (!isSeen(event)) report(dropped(lostItem(capabilities, event)))
    reportMembers(capabilities, event, report)
    return undefined
  }
  const composed = isComposed(event) ? carryComposed(capabilities, event, view, report) : event
  const carried = composed && carryMembers(capabilities, composed, report)
  if (!whole) return carried && withoutExt(capabilities, carried, report)
  if (!event.type.startsWith('turn-')) {
    if (NOT_IN_VIEW.has(event.type)) report(dropped(event.type))
    if (carried?.type === 'usage' && carried.scope === 'session') report(dropped('usage.session'))
    if (event.ext && !REPEATED.has(event.type)) report({ ...dropped('ext'), field: event.ext.protocol })
    return undefined
  }
  if (event.type === 'turn-end' || event.type === 'turn-parked') {
    // A client that sees the phase of every message sees commentary too.
    if (view.asides > 0 && capabilities['message.phase'] !== 'full')
      report({ ...dropped('text-delta', view.asides), field: 'aside' })
  }
  return withoutExt(capabilities, carried ?? event, report)
}

/** Events whose content the end of their message repeats. */
const REPEATED: ReadonlySet<TurnEvent['type']> = new Set(['reasoning-end', 'citation'])

/** True for an event that every front shows in another way, or whose loss is reported with the end of its message. */
function isSeen(event: TurnEvent): boolean {
  return IN_VIEW.has(event.type) || REPEATED.has(event.type) || (event.type === 'notice' && event.code === SEEN_NOTICE)
}

/** A front that can ask, but not this question, lacks its kind. */
function lostItem(capabilities: Capabilities, event: TurnEvent): Item {
  return event.type === 'ask' && capabilities.ask !== 'none' ? `ask.${event.question.kind}` : event.type
}

function isComposed(event: TurnEvent): event is Composed {
  switch (event.type) {
    case 'usage':
    case 'message-end':
    case 'tool-end':
    case 'tool-progress':
      return true
    default:
      return false
  }
}

function carryComposed(
  capabilities: Capabilities,
  event: Composed,
  view: LiveView,
  report: ReportLoss,
): TurnEvent | undefined {
  if (event.type === 'usage') return carryUsage(capabilities, event, report)
  if (event.parts === undefined) return event
  const isKnown = event.type === 'message-end' ? (part: Part) => isRepeated(part, event.message, view) : () => false
  const parts = carryParts(capabilities, event.parts, isKnown, report)
  return parts === event.parts ? event : { ...event, parts }
}

/** True for a part that only repeats: an event of its own has shown it, or it is the client's own prompt. */
function isRepeated(part: Part, message: string, view: LiveView): boolean {
  const known = view.message(message)
  if (known?.role === 'user') return true
  if (part.type === 'reasoning') return known?.thought === true
  return (part.type === 'tool-call' || part.type === 'tool-reply') && view.tool(part.tool) !== undefined
}

/** The counts that have a place; undefined when none has. */
function carryUsage(
  capabilities: Capabilities,
  event: EventOf<'usage'>,
  report: ReportLoss,
): EventOf<'usage'> | undefined {
  if (event.scope === 'session' && capabilities['usage.session'] === 'none') {
    report(dropped('usage.session'))
    return undefined
  }
  const guessed = event.estimated === true && capabilities['usage.estimated'] === 'none'
  if (guessed) report(dropped('usage.estimated'))
  const usage = without(event.usage, (field) => {
    const isLost = capabilities[COUNTS[field]!] === 'none'
    if (isLost) report(dropped(COUNTS[field]!))
    return isLost
  })
  if (usage === event.usage && !guessed) return event
  if (Object.keys(usage).length === 0) return undefined
  const carried = { ...event, usage }
  return guessed ? without(carried, (key) => key === 'estimated') : carried
}

function withoutExt(capabilities: Capabilities, event: TurnEvent, report: ReportLoss): TurnEvent {
  if (capabilities.ext !== 'none') return event
  const end = event.type === 'turn-end' && event.fault?.ext ? { ...event, fault: withoutFaultExt(event.fault) } : event
  if (event.type === 'turn-end' && event.fault?.ext) report({ ...dropped('ext'), field: event.fault.ext.protocol })
  if (end.ext === undefined) return end
  report({ ...dropped('ext'), field: end.ext.protocol })
  return without(end, (key) => key === 'ext')
}

function withoutFaultExt({ ext, ...fault }: Fault): Fault {
  return fault
}
