import type { Part, TurnEvent } from '../../src/model/index.ts'

/** The content of an event for people: its text, or its members that matter. */

/** The text of events of one line of the view: pieces of a text joined, else the one event's. */
export function textOfEvents(events: readonly TurnEvent[]): string {
  return events.map(textOfEvent).join('')
}

function textOfEvent(event: TurnEvent): string {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-args-delta':
    case 'terminal-output':
      return event.text
    case 'turn-accepted':
      // `how` is about the exchange that follows the turn.
      return [`session ${event.session}`, ...(event.request === undefined ? [] : [`request ${event.request}`])].join(
        ', ',
      )
    case 'message-start':
      return event.role
    case 'message-end':
    case 'tool-progress':
      return textOfParts(event.parts)
    case 'tool-start':
      return event.title ?? event.name
    case 'tool-call':
      return `${event.name} ${String(json(event.args))}`
    case 'tool-end':
      return `${event.status} ${textOfParts(event.parts)}`.trim()
    case 'turn-end':
      return [event.outcome, event.stop, event.fault && `${event.fault.code}: ${event.fault.message}`]
        .filter((part) => part !== undefined)
        .join(' · ')
    default:
      return otherText(event)
  }
}

function otherText({ type: _type, turn: _turn, ...members }: TurnEvent): string {
  const { seq: _seq, ...rest } = members as Record<string, unknown>
  return Object.entries(rest)
    .map(([name, value]) => `${name}: ${json(value)}`)
    .join(', ')
}

/** The texts of parts; other parts by their names. */
export function textOfParts(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map(textOfPart).join('\n')
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'data':
      return json(part.json)
    case 'tool-call':
      return `[call of ${part.name}] ${json(part.args)}`
    case 'tool-reply':
      return `[${part.status}] ${textOfParts(part.parts)}`
    case 'diff':
      return `[${part.before === null ? 'new file' : 'change of'} ${part.path}]`
    default:
      return `[${[part.type, part.mime, part.name ?? part.url ?? part.ref].filter((word) => word !== undefined).join(' ')}]`
  }
}

/** Foreign JSON is embedded in the answers of the native API, so it comes as a value. */
function json(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** JSON with line breaks; other text as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
